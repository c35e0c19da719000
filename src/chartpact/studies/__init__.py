"""What followed a signal, and whether chance does as much.

`ask` reads the options. `subjects` dates the events of an indicator. `market` prepares the bars,
`estimator` tests, and `procedure` leads through a study, to an `answer` that `picture` draws.
"""

from chartpact.studies.answer import StudyAnswer, json_schema
from chartpact.studies.ask import Ask, read_ask, read_share
from chartpact.studies.errors import StudyError
from chartpact.studies.procedure import study
from chartpact.studies.result import StudyResult

__all__ = [
    "Ask",
    "StudyAnswer",
    "StudyError",
    "StudyResult",
    "json_schema",
    "read_ask",
    "read_share",
    "study",
]
