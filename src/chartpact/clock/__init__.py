"""Clocks and calendars: everything that turns a time into a day.

`zones` knows what the clocks of a time zone show, `walltime` takes such a time apart, `sessions`
tells the hours of a day, `markets` the kinds of symbols, `tradingcalendar` their trading days,
`timeframe` and `periods` the stretches of time that bars stand for, `system` the time now.
Times are UTC milliseconds, dates are days since 1970-01-01, both as whole columns.
"""
