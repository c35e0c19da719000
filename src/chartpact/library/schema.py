"""The tables of the library. Everything is keyed by user first; times are UTC ms."""

import sqlalchemy as sa

metadata = sa.MetaData()

user_indicators = sa.Table(
    "user_indicators",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("meta_json", sa.Text, nullable=False),  # PARAMS and META as of registration
    sa.Column("source_hash", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("updated_at", sa.BigInteger, nullable=False),
)

# Versions outlive a deleted script, so that a deletion can be taken back.
indicator_versions = sa.Table(
    "indicator_versions",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("source_hash", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
)

# Bars a user has put in store: the file as it came, compressed.
user_bars = sa.Table(
    "user_bars",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("facts_json", sa.Text, nullable=False),  # timeframe, rows, first and last time
    sa.Column("created_at", sa.BigInteger, nullable=False),
)
