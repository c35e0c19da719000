"""Numeric primitives: series in, series out, by Pine's rules."""
