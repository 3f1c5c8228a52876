"""imports: many submissions sent as one file, with a result for each row"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "a7d2f4c8e016"
down_revision = "b3e6f0a81c57"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
COUNTS = ("size_bytes", "rows", "created", "existing", "valid", "refused", "failed", "next_line", "next_byte")


def upgrade() -> None:
    op.create_table(
        "imports",
        sa.Column("requested_by_id", sa.Integer(), nullable=False),
        sa.Column("is_dry_run", sa.Boolean(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in COUNTS),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.String(length=40), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failure", sa.String(), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["requested_by_id"], ["users.id"], name=op.f("fk_imports_requested_by_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sa.UniqueConstraint("public_id", name=op.f("uq_imports_public_id")),
    )
    with op.batch_alter_table("imports", schema=None) as batch_op:
        batch_op.create_index("ix_imports_state_lease_until", ["state", "lease_until"], unique=False)
        batch_op.create_index("ix_imports_requested_by_id_id", ["requested_by_id", "id"], unique=False)
    op.create_table(
        "import_rows",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=True),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=True),
        sa.Column("problem", JSON, nullable=True),
        sa.ForeignKeyConstraint(["import_id"], ["imports.id"], name=op.f("fk_import_rows_import_id_imports")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_import_rows_submission_id_submissions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_rows")),
        sa.UniqueConstraint("import_id", "number", name=op.f("uq_import_rows_import_id_number")),
    )


def downgrade() -> None:
    op.drop_table("import_rows")
    op.drop_table("imports")
