"""What the processes of a server share: secrets, and how much of a limit is spent."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "server_secrets",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
    )
    op.create_table(
        "allowances",
        sa.Column("bucket", sa.Text, primary_key=True),
        sa.Column("level", sa.BigInteger, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
