"""The types that fields of a scene have, each with the rule that says what may stand there."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.scene.checks import color, flag, number, paint, size, text, whole
from chartpact.scene.columns import maybe_texts, numbers, series, series_to_json, texts, wholes
from chartpact.scene.rule import Rule, at_least, nullable, one_of
from chartpact.textcolumn import TextColumn

COLOR_SCHEMA = {"type": "string", "pattern": "^#[0-9a-f]{8}$"}
WHOLE = Rule(whole, {"type": "integer"}, column=wholes)
NUMBER = Rule(number, {"type": "number"}, column=numbers)
TEXT = Rule(text, {"type": "string"}, column=texts)
COUNT = at_least(WHOLE, 0)
COLOR = Rule(color, COLOR_SCHEMA)

Whole = Annotated[int, WHOLE]
Count = Annotated[int, COUNT]
Number = Annotated[float, NUMBER]
Positive = Annotated[float, at_least(NUMBER, 0)]
MaybeWhole = Annotated[int | None, nullable(WHOLE)]
MaybeNumber = Annotated[float | None, nullable(NUMBER, series)]  # None is NaN in a column
Text = Annotated[str, TEXT]
MaybeText = Annotated[str | None, nullable(TEXT, maybe_texts)]
Flag = Annotated[bool, Rule(flag, {"type": "boolean"})]
MaybeColor = Annotated[str | None, nullable(COLOR)]
Series = Annotated[
    NDArray[np.float64],
    Rule(series, {"type": "array", "items": {"type": ["number", "null"]}}, series_to_json),
]
# One colour for the whole plot, or one for each bar or dot (None: not drawn).
Paint = Annotated[str | TextColumn, Rule(paint, {})]
Size = Annotated[
    str | int,
    Rule(size, {"anyOf": [{"enum": list(palette.TEXT_SIZES)}, {"type": "integer", "minimum": 1}]}),
]
PlotStyle = Annotated[str, one_of(palette.PLOT_STYLES)]
LineStyle = Annotated[str, one_of(palette.LINE_STYLES)]
BorderStyle = Annotated[str, one_of(palette.BORDER_STYLES)]
LabelStyle = Annotated[str, one_of(palette.LABEL_STYLES)]
Yloc = Annotated[str, one_of(palette.YLOCS)]
Extend = Annotated[str, one_of(palette.EXTENDS)]
Position = Annotated[str, one_of(palette.POSITIONS)]
Halign = Annotated[str, one_of(palette.HALIGNS)]
Valign = Annotated[str, one_of(palette.VALIGNS)]
Wrap = Annotated[str, one_of(palette.WRAPS)]
Font = Annotated[str, one_of(palette.FONTS)]
Format = Annotated[str, one_of(palette.FORMATS)]
Side = Annotated[str, one_of(palette.SIDES)]
