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

# Who may sign in. `user_id` is what every other table calls `user_id`.
users = sa.Table(
    "users",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("password_hash", sa.Text),  # argon2id; none: no password signs in
    sa.Column("origin", sa.Text, nullable=False),  # operator or sign-up
    sa.Column("created_at", sa.BigInteger, nullable=False),
)

# Programs that registered themselves (RFC 7591); all are public clients without a secret.
oauth_clients = sa.Table(
    "oauth_clients",
    metadata,
    sa.Column("client_id", sa.Text, primary_key=True),
    sa.Column("metadata_json", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
)

# One consent of a user to a client: its tokens are one family, revoked together.
oauth_grants = sa.Table(
    "oauth_grants",
    metadata,
    sa.Column("grant_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False, index=True),
    sa.Column("client_id", sa.Text, nullable=False),
    sa.Column("client_name", sa.Text, nullable=False),
    sa.Column("scope", sa.Text, nullable=False),
    sa.Column("resource", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("used_at", sa.BigInteger, nullable=False),
)

# Authorization codes. A spent one stays until it expires, so that its replay is noticed.
oauth_codes = sa.Table(
    "oauth_codes",
    metadata,
    sa.Column("code_hash", sa.Text, primary_key=True),
    sa.Column("grant_id", sa.Text, nullable=False),
    sa.Column("user_id", sa.Text, nullable=False, index=True),
    sa.Column("client_id", sa.Text, nullable=False),
    sa.Column("redirect_uri", sa.Text, nullable=False),
    sa.Column("challenge", sa.Text, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
    sa.Column("spent_at", sa.BigInteger),
)

# Bearer tokens: access and refresh tokens of a grant, and personal ones, which have no grant.
tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("token_hash", sa.Text, primary_key=True),
    sa.Column("token_id", sa.Text, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),  # access, refresh or personal
    sa.Column("user_id", sa.Text, nullable=False, index=True),
    sa.Column("grant_id", sa.Text, index=True),
    sa.Column("client_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("scope", sa.Text, nullable=False),
    sa.Column("resource", sa.Text),  # whom it is for; none: this server under any of its names
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
    sa.Column("spent_at", sa.BigInteger),  # of a refresh token
)

# Browsers that are signed in.
web_sessions = sa.Table(
    "web_sessions",
    metadata,
    sa.Column("session_hash", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False, index=True),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
)

# Who signed in, consented, revoked. Never a password, a token or a code.
audit_events = sa.Table(
    "audit_events",
    metadata,
    sa.Column("event_id", sa.Integer, primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False, index=True),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("user_id", sa.Text, index=True),
    sa.Column("client_id", sa.Text),
    sa.Column("address", sa.Text),
)
