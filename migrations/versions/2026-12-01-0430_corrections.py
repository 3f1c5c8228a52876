"""corrections: a submitted review gets a next revision, and stays as it is"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b3e6f0a81c57"
down_revision = "d4a7c2e9b1f6"
branch_labels = None
depends_on = None

# Only the first answers have a place in the older shape; what hangs on their corrections moves to them.
FIRST = """
(SELECT f.id FROM reviews f, reviews c WHERE c.id = {table}.review_id
 AND f.subject_id = c.subject_id AND f.reviewer_id = c.reviewer_id AND f.revision = 1)
"""
CORRECTIONS = "(SELECT id FROM reviews WHERE revision > 1)"


def upgrade() -> None:
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.add_column(sa.Column("revision", sa.Integer(), server_default="1", nullable=False))
        batch_op.add_column(sa.Column("supersedes_id", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("what_changed", sa.String(length=300), server_default="", nullable=False))
        batch_op.drop_constraint(batch_op.f("uq_reviews_subject_id_reviewer_id"), type_="unique")
        batch_op.create_unique_constraint(
            batch_op.f("uq_reviews_subject_id_reviewer_id_revision"), ["subject_id", "reviewer_id", "revision"]
        )
        batch_op.create_unique_constraint(batch_op.f("uq_reviews_supersedes_id"), ["supersedes_id"])
        batch_op.create_foreign_key(
            batch_op.f("fk_reviews_supersedes_id_reviews"), "reviews", ["supersedes_id"], ["id"]
        )


def downgrade() -> None:
    for table in ("contests", "experiments"):
        op.execute(
            f"UPDATE {table} SET review_id = {FIRST.format(table=table)} WHERE review_id IN {CORRECTIONS}"  # noqa: S608
        )
    op.execute(f"DELETE FROM review_drafts WHERE review_id IN {CORRECTIONS}")  # noqa: S608
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_reviews_supersedes_id_reviews"), type_="foreignkey")
    op.execute("DELETE FROM reviews WHERE revision > 1")
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_reviews_supersedes_id"), type_="unique")
        batch_op.drop_constraint(batch_op.f("uq_reviews_subject_id_reviewer_id_revision"), type_="unique")
        batch_op.create_unique_constraint(
            batch_op.f("uq_reviews_subject_id_reviewer_id"), ["subject_id", "reviewer_id"]
        )
        batch_op.drop_column("what_changed")
        batch_op.drop_column("supersedes_id")
        batch_op.drop_column("revision")
