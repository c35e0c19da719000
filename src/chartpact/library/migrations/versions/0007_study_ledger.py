"""How many tests each user ran on the same bars, and what they looked at in the hold-out."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "study_ledger",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("bars_hash", sa.Text, primary_key=True),
        sa.Column("subject_hash", sa.Text, primary_key=True),
        sa.Column("tests", sa.BigInteger, nullable=False),
        sa.Column("confirmations", sa.Integer, nullable=False),
    )
