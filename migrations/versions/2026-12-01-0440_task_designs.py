"""task designs: one subject for a version of a task, and the task's record as a review of it saw it"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "8c1f4b7e2a90"
down_revision = "a7d2f4c8e016"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
IS_DESIGN = sa.text("kind = 'task_version'")


def upgrade() -> None:
    op.create_index(
        "uq_review_subjects_design", "review_subjects", ["task_version_id"], unique=True,
        sqlite_where=IS_DESIGN, postgresql_where=IS_DESIGN,
    )  # fmt: skip
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.add_column(sa.Column("health", JSON, nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.drop_column("health")
    op.drop_index("uq_review_subjects_design", table_name="review_subjects")
