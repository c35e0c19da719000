"""The layout of each user's web page."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "web_layouts",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("layout_json", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
