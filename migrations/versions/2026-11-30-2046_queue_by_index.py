"""queue by index: what orders the queue moves from the slots to the subjects; reservations, caps, saved views"""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "577acae9dae7"
down_revision = "18bf4a174278"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

OF_SUBJECT = "FROM review_slots s WHERE s.subject_id = review_subjects.id"
FROM_SLOTS = f"""
UPDATE review_subjects SET
  framework = COALESCE((SELECT u.framework FROM submissions u WHERE u.id = review_subjects.submission_id), ''),
  verdict = (SELECT e.verdict FROM evaluations e WHERE e.submission_id = review_subjects.submission_id
             AND e.state = 'done' ORDER BY e.id DESC LIMIT 1),
  priority = COALESCE((SELECT max(s.priority) {OF_SUBJECT}), 0),
  why = COALESCE((SELECT s.why {OF_SUBJECT} AND s.state <> 'broken' ORDER BY s.id LIMIT 1), ''),
  is_open = EXISTS (SELECT 1 {OF_SUBJECT} AND s.state = 'open'),
  reviews_done = (SELECT count(*) {OF_SUBJECT} AND s.state = 'done')
"""  # noqa: S608 - constants
TO_SLOTS = """
UPDATE review_slots SET
  priority = (SELECT b.priority FROM review_subjects b WHERE b.id = review_slots.subject_id),
  why = CASE WHEN state = 'broken' THEN why
        ELSE (SELECT b.why FROM review_subjects b WHERE b.id = review_slots.subject_id) END
"""


def upgrade() -> None:
    op.create_table(
        "saved_views",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("query", sa.String(length=400), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_saved_views_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_views")),
        sa.UniqueConstraint("user_id", "name", name=op.f("uq_saved_views_user_id_name")),
    )
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.add_column(sa.Column("reviews_per_day_max", sa.Integer(), nullable=True))
    with op.batch_alter_table("review_subjects", schema=None) as batch_op:
        batch_op.add_column(sa.Column("framework", sa.String(length=20), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("verdict", sa.String(length=20), nullable=True))
        batch_op.add_column(sa.Column("summary", JSON, nullable=True))
        batch_op.add_column(sa.Column("priority", sa.Integer(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("why", sa.String(length=300), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("due_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("is_open", sa.Boolean(), nullable=False, server_default=sa.false()))
        batch_op.add_column(sa.Column("reviews_done", sa.Integer(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("rank", sa.Integer(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("shuffle", sa.BigInteger(), nullable=False, server_default="0"))
    _fill()
    with op.batch_alter_table("review_subjects", schema=None) as batch_op:
        batch_op.create_index("ix_review_subjects_is_open_due_at", ["is_open", "due_at"], unique=False)
        batch_op.create_index("ix_review_subjects_is_open_id", ["is_open", "id"], unique=False)
        batch_op.create_index("ix_review_subjects_is_open_rank_shuffle", ["is_open", "rank", "shuffle"], unique=False)
    with op.batch_alter_table("review_slots", schema=None) as batch_op:
        batch_op.drop_column("priority")
        batch_op.add_column(sa.Column("reserved_for_id", sa.Integer(), nullable=True))
        batch_op.create_index(batch_op.f("ix_review_slots_reserved_for_id"), ["reserved_for_id"], unique=False)
        batch_op.create_foreign_key(
            batch_op.f("fk_review_slots_reserved_for_id_users"), "users", ["reserved_for_id"], ["id"]
        )


def downgrade() -> None:
    with op.batch_alter_table("review_slots", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_review_slots_reserved_for_id_users"), type_="foreignkey")
        batch_op.drop_index(batch_op.f("ix_review_slots_reserved_for_id"))
        batch_op.drop_column("reserved_for_id")
        batch_op.add_column(sa.Column("priority", sa.Integer(), nullable=False, server_default="0"))
    op.execute(TO_SLOTS)
    with op.batch_alter_table("review_subjects", schema=None) as batch_op:
        batch_op.drop_index("ix_review_subjects_is_open_rank_shuffle")
        batch_op.drop_index("ix_review_subjects_is_open_id")
        batch_op.drop_index("ix_review_subjects_is_open_due_at")
        for name in (
            "shuffle", "rank", "reviews_done", "is_open", "due_at", "why", "priority", "summary", "verdict",
            "framework",
        ):  # fmt: skip
            batch_op.drop_column(name)
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.drop_column("reviews_per_day_max")
    op.drop_table("saved_views")


def _fill() -> None:
    """What the slots say of each subject so far; only a report's summary waits for the next evaluation."""
    connection = op.get_bind()
    connection.execute(sa.text(FROM_SLOTS))
    connection.execute(sa.text("UPDATE review_subjects SET rank = priority * 100 + reviews_done"))
    connection.execute(sa.text("UPDATE review_slots SET why = '' WHERE state <> 'broken'"))
    drawn = [
        {"id": row.id, "shuffle": secrets.randbits(53)}
        for row in connection.execute(sa.text("SELECT id FROM review_subjects"))
    ]
    if drawn:
        connection.execute(sa.text("UPDATE review_subjects SET shuffle = :shuffle WHERE id = :id"), drawn)
