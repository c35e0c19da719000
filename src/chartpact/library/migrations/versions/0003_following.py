"""Users' contracts with their versions, and follows with their journals."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "user_contracts",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("source_hash", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "contract_versions",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("source_hash", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "follows",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("follow", sa.Integer, primary_key=True),
        sa.Column("door", sa.Text, nullable=False),
        sa.Column("contract", sa.Text, nullable=False),
        sa.Column("asked_json", sa.Text, nullable=False),
        sa.Column("every_ms", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("lease_owner", sa.Text),
        sa.Column("lease_until", sa.BigInteger, nullable=False),
        sa.Column("read_at", sa.BigInteger),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("delivered", sa.Integer, nullable=False),
    )
    op.create_index("ix_follows_due_at", "follows", ["due_at"])
    op.create_table(
        "journal_bodies",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("follow", sa.Integer, primary_key=True),
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_table(
        "journal_entries",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("follow", sa.Integer, primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("track", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("snapshot", sa.Text),
        sa.Column("bar", sa.BigInteger),
        sa.Column("confirmed", sa.Integer, nullable=False),
        sa.Column("first_as_of", sa.BigInteger),
        sa.Column("last_as_of", sa.BigInteger),
        sa.Column("first_at", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
    )
    op.create_table(
        "journal_changes",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("follow", sa.Integer, primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("entry", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("data_json", sa.Text, nullable=False),
    )
    op.create_table(
        "journal_checkpoints",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("follow", sa.Integer, primary_key=True),
        sa.Column("entry", sa.Integer, nullable=False),
        sa.Column("change", sa.Integer, nullable=False),
        sa.Column("memory_json", sa.Text, nullable=False),
    )
