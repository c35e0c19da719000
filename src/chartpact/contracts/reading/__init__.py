"""Reading one snapshot under one contract, from its drawn records to a state or violations.

`bind` fills a configuration into a contract. `engine` leads the reading: `normalise` makes rows of
the drawn records and `matching` makes elements of the rows. `nearmisses` says what almost fitted,
and `result` is what comes out.
"""

from chartpact.contracts.reading.result import ChartFacts, Reading, Track, Violation, jsonable

__all__ = ["ChartFacts", "Reading", "Track", "Violation", "jsonable"]
