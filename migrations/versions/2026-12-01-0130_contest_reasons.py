"""contests: why one was settled as it was"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e7c2a4d81f60"
down_revision = "b3e1f7a9c5d4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("contests", schema=None) as batch_op:
        batch_op.add_column(sa.Column("settled_because", sa.String(), nullable=False, server_default=""))
    with op.batch_alter_table("contests", schema=None) as batch_op:
        batch_op.alter_column("settled_because", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("contests", schema=None) as batch_op:
        batch_op.drop_column("settled_because")
