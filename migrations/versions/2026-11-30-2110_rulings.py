"""rulings: interpretations of criteria and who has read them; how far a version changes; drafts moved between versions"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "6c0d5be1f3a2"
down_revision = "577acae9dae7"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "rulings",
        sa.Column("rubric_id", sa.Integer(), nullable=False),
        sa.Column("criterion", sa.String(length=40), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("example", sa.String(), nullable=False),
        sa.Column("made_by_id", sa.Integer(), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("withdrawn_by_id", sa.Integer(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["made_by_id"], ["users.id"], name=op.f("fk_rulings_made_by_id_users")),
        sa.ForeignKeyConstraint(["rubric_id"], ["rubrics.id"], name=op.f("fk_rulings_rubric_id_rubrics")),
        sa.ForeignKeyConstraint(["withdrawn_by_id"], ["users.id"], name=op.f("fk_rulings_withdrawn_by_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rulings")),
        sa.UniqueConstraint("public_id", name=op.f("uq_rulings_public_id")),
    )
    with op.batch_alter_table("rulings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rulings_rubric_id"), ["rubric_id"], unique=False)
    op.create_table(
        "ruling_acknowledgements",
        sa.Column("ruling_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["ruling_id"], ["rulings.id"], name=op.f("fk_ruling_acknowledgements_ruling_id_rulings")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_ruling_acknowledgements_user_id_users")),
        sa.PrimaryKeyConstraint("ruling_id", "user_id", name=op.f("pk_ruling_acknowledgements")),
    )
    op.create_table(
        "rubric_moves",
        sa.Column("to_version_id", sa.Integer(), nullable=False),
        sa.Column("moved_by_id", sa.Integer(), nullable=False),
        sa.Column("mapping", JSON, nullable=False),
        sa.Column("moved", JSON, nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["moved_by_id"], ["users.id"], name=op.f("fk_rubric_moves_moved_by_id_users")),
        sa.ForeignKeyConstraint(
            ["to_version_id"], ["rubric_versions.id"], name=op.f("fk_rubric_moves_to_version_id_rubric_versions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rubric_moves")),
        sa.UniqueConstraint("public_id", name=op.f("uq_rubric_moves_public_id")),
    )
    with op.batch_alter_table("rubric_moves", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rubric_moves_to_version_id"), ["to_version_id"], unique=False)
    with op.batch_alter_table("rubric_versions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("change_class", sa.String(length=12), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("rubric_versions", schema=None) as batch_op:
        batch_op.drop_column("change_class")
    op.drop_table("rubric_moves")
    op.drop_table("ruling_acknowledgements")
    op.drop_table("rulings")
