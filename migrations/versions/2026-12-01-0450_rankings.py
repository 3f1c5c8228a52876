"""rankings: a review of a comparison has no rubric, a ranking, and its members as it saw them"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "a7e3c1d9f2b8"
down_revision = "8c1f4b7e2a90"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.add_column(sa.Column("ranking", JSON, nullable=True))
        batch_op.alter_column("rubric_version_id", existing_type=sa.Integer(), nullable=True)
    op.create_table(
        "review_members",
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluations.id"], name=op.f("fk_review_members_evaluation_id_evaluations")
        ),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_review_members_review_id_reviews")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_review_members_submission_id_submissions")
        ),
        sa.PrimaryKeyConstraint("review_id", "submission_id", name=op.f("pk_review_members")),
        sa.UniqueConstraint("review_id", "place", name=op.f("uq_review_members_review_id_place")),
    )
    with op.batch_alter_table("review_members", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_review_members_submission_id"), ["submission_id"], unique=False)


def downgrade() -> None:
    op.drop_table("review_members")
    # The schema before cannot hold a review without a rubric.
    op.execute("DELETE FROM review_drafts WHERE review_id IN (SELECT id FROM reviews WHERE rubric_version_id IS NULL)")
    op.execute("DELETE FROM reviews WHERE rubric_version_id IS NULL")
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.alter_column("rubric_version_id", existing_type=sa.Integer(), nullable=False)
        batch_op.drop_column("ranking")
