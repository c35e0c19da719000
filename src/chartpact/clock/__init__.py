"""Clocks: zones, timeframes, trading days and periods; what turns a time into a day."""
