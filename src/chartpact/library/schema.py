"""The tables of the library. Everything is keyed by user first; times are UTC ms."""

import sqlalchemy as sa

metadata = sa.MetaData()


def key(table: sa.Table, user: str, *names: str) -> tuple[sa.ColumnElement[bool], ...]:
    """Selects the rows of a user that have one of the names."""
    # Every stored name is printable. PostgreSQL takes neither a NUL nor half a surrogate pair.
    storable = [name for name in names if name.isprintable()]
    return table.c.user_id == user, table.c.name.in_(storable)


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

# Contracts of a user's own, with their versions, as scripts have them.
user_contracts = sa.Table(
    "user_contracts",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),  # the contract's own, as in 1.0.0
    sa.Column("title", sa.Text, nullable=False),  # of the study that it reads; empty of a strategy
    sa.Column("source_hash", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("updated_at", sa.BigInteger, nullable=False),
)

contract_versions = sa.Table(
    "contract_versions",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("source_hash", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
)

# What is followed: one contract on one source. One process at a time reads it, by lease.
follows = sa.Table(
    "follows",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("follow", sa.Integer, primary_key=True),
    sa.Column("door", sa.Text, nullable=False),  # server or shell: who may read its source
    sa.Column("contract", sa.Text, nullable=False),
    sa.Column("asked_json", sa.Text, nullable=False),  # source, parameters and configuration
    sa.Column("every_ms", sa.Integer, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("due_at", sa.BigInteger, nullable=False, index=True),
    sa.Column("lease_owner", sa.Text),
    sa.Column("lease_until", sa.BigInteger, nullable=False),
    sa.Column("read_at", sa.BigInteger),  # the last reading
    sa.Column("failures", sa.Integer, nullable=False),  # reads that failed since then
    sa.Column("error", sa.Text),  # why the last read failed
    sa.Column("delivered", sa.Integer, nullable=False),  # the last change that was delivered
)

# The journal of a follow. What was read, by its hash: readings, and the contracts they were under.
journal_bodies = sa.Table(
    "journal_bodies",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("follow", sa.Integer, primary_key=True),
    sa.Column("hash", sa.Text, primary_key=True),
    sa.Column("data", sa.Text, nullable=False),
)

# Successive readings; equal ones of one bar are one entry.
journal_entries = sa.Table(
    "journal_entries",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("follow", sa.Integer, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("track", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("snapshot", sa.Text),  # the hash of what was read
    sa.Column("bar", sa.BigInteger),
    sa.Column("confirmed", sa.Integer, nullable=False),
    sa.Column("first_as_of", sa.BigInteger),
    sa.Column("last_as_of", sa.BigInteger),
    sa.Column("first_at", sa.BigInteger, nullable=False),
    sa.Column("last_at", sa.BigInteger, nullable=False),
    sa.Column("count", sa.Integer, nullable=False),
)

journal_changes = sa.Table(
    "journal_changes",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("follow", sa.Integer, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("entry", sa.Integer, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("data_json", sa.Text, nullable=False),
)

# What the entries up to one of them amount to; they may then be deleted.
journal_checkpoints = sa.Table(
    "journal_checkpoints",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("follow", sa.Integer, primary_key=True),
    sa.Column("entry", sa.Integer, nullable=False),
    sa.Column("change", sa.Integer, nullable=False),  # the last change up to there
    sa.Column("memory_json", sa.Text, nullable=False),
)

# How many tests a user ran on the same bars, by what was studied, and how often the bars that were
# held out were looked at. Nothing is forgotten: a study tells how often these bars were tried.
study_ledger = sa.Table(
    "study_ledger",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("bars_hash", sa.Text, primary_key=True),
    sa.Column("subject_hash", sa.Text, primary_key=True),
    sa.Column("tests", sa.BigInteger, nullable=False),
    sa.Column("confirmations", sa.Integer, nullable=False),
)

# The symbols that a user watches, by the name of the list.
watchlists = sa.Table(
    "watchlists",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("symbols_json", sa.Text, nullable=False),
    sa.Column("updated_at", sa.BigInteger, nullable=False),
)

# What a user's web page looks like: the chart and the panels as they were left.
web_layouts = sa.Table(
    "web_layouts",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("layout_json", sa.Text, nullable=False),
    sa.Column("updated_at", sa.BigInteger, nullable=False),
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

# Secrets that the processes of a server share: the key of request states, and a sign-in link.
server_secrets = sa.Table(
    "server_secrets",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("expires_at", sa.BigInteger),  # none: never
)

# How much is left of a limit of which all processes of a server take, in thousandths.
allowances = sa.Table(
    "allowances",
    metadata,
    sa.Column("bucket", sa.Text, primary_key=True),
    sa.Column("level", sa.BigInteger, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
)

# What tools without a symbol mean, where several processes serve.
last_charts = sa.Table(
    "last_charts",
    metadata,
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("ask_json", sa.Text, nullable=False),
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
