"""experiments: a reviewer's own runs beside a review"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "b3e1f7a9c5d4"
down_revision = "6c0d5be1f3a2"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
INDEXES = ("review_id", "requested_by_id", "submission_id", "proposed_at")


def upgrade() -> None:
    op.create_table(
        "experiments",
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("requested_by_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("target", sa.String(length=20), nullable=False),
        sa.Column("params", JSON, nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(length=20), nullable=False),
        sa.Column("tolerance", JSON, nullable=False),
        sa.Column("patch", JSON, nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("report", JSON, nullable=True),
        sa.Column("outcome", JSON, nullable=True),
        sa.Column("verdict", sa.String(length=20), nullable=True),
        sa.Column("failure", sa.String(), nullable=True),
        sa.Column("proposed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("proposal", sa.String(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("state <> 'done' OR report IS NOT NULL", name=op.f("ck_experiments_done_has_report")),
        sa.ForeignKeyConstraint(["requested_by_id"], ["users.id"], name=op.f("fk_experiments_requested_by_id_users")),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_experiments_review_id_reviews")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name=op.f("fk_experiments_submission_id_submissions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiments")),
        sa.UniqueConstraint("public_id", name=op.f("uq_experiments_public_id")),
    )
    with op.batch_alter_table("experiments", schema=None) as batch_op:
        batch_op.create_index("ix_experiments_state_lease_until", ["state", "lease_until"], unique=False)
        for column in INDEXES:
            batch_op.create_index(batch_op.f(f"ix_experiments_{column}"), [column], unique=False)


def downgrade() -> None:
    op.drop_table("experiments")
