"""The price series of bars: the columns that are stored, and those derived from them."""

STORED = ("open", "high", "low", "close", "volume")
DERIVED = {  # each is the mean of these columns
    "hl2": ("high", "low"),
    "hlc3": ("high", "low", "close"),
    "ohlc4": ("open", "high", "low", "close"),
    "hlcc4": ("high", "low", "close", "close"),
}
# What a parameter of type `source` may name, in the order that lists show.
SOURCES = ("open", "high", "low", "close", *DERIVED, "volume")
