"""own_snippets: texts that a reviewer inserts often"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a91c5d7e30b4"
down_revision = "a7e3c1d9f2b8"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "own_snippets",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=80), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_own_snippets_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_own_snippets")),
        sa.UniqueConstraint("public_id", name=op.f("uq_own_snippets_public_id")),
    )
    with op.batch_alter_table("own_snippets", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_own_snippets_user_id"), ["user_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("own_snippets", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_own_snippets_user_id"))
    op.drop_table("own_snippets")
