"""The last chart of each user, which any process of a server may be asked about."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "last_charts",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("ask_json", sa.Text, nullable=False),
    )
