"""users: keys of one's own on the review page"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "f4b8d1c29a35"
down_revision = "e7c2a4d81f60"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.add_column(sa.Column("keys", JSON, nullable=False, server_default="{}"))
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.alter_column("keys", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("users", schema=None) as batch_op:
        batch_op.drop_column("keys")
