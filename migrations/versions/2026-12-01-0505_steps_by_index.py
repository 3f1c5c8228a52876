"""steps by index: what a person holds apart from what they have done, and no way to reviews through their state"""

from __future__ import annotations

from alembic import op

revision = "e5b07c93d1f4"
down_revision = "a91c5d7e30b4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_review_slots_holder_id_state_lease_until", "review_slots", ["holder_id", "state", "lease_until"]
    )
    op.drop_index(op.f("ix_review_slots_holder_id"), table_name="review_slots")
    op.drop_index(op.f("ix_reviews_state"), table_name="reviews")


def downgrade() -> None:
    op.create_index(op.f("ix_reviews_state"), "reviews", ["state"])
    op.create_index(op.f("ix_review_slots_holder_id"), "review_slots", ["holder_id"])
    op.drop_index("ix_review_slots_holder_id_state_lease_until", table_name="review_slots")
