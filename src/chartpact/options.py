"""Tables of options: keyword arguments, flags, query parameters and JSON Schemas come from one.

A table is a TypedDict. Each of its keys is annotated with a type and an `Option`, which holds what
a type does not say.

>>> from typing import Annotated, Literal, TypedDict
>>> class Example(TypedDict, total=False):
...     stamp: Annotated[Literal["open", "close"] | None, Option("what of a bar its time is")]
>>> read_table(Example)["stamp"].choices
('close', 'open')
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Option:
    """What an option means; `read_table` adds its name, its type and its choices."""

    help: str
    metavar: str | None = None
    above: float | None = None  # a number that comes over the network
    longest: int | None = None  # characters of a text that comes over the network
    name: str = ""
    type: type = str
    choices: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """The values of a flag or of a choice, as a message lists them."""
        values = (True, False) if self.type is bool else self.choices
        return " or ".join(map(repr, values))

    def accepts(self, value: object) -> bool:
        """Whether it is one of the values of a flag or of a choice; any other option takes all."""
        if self.type is bool:
            return isinstance(value, bool)
        return not self.choices or (isinstance(value, str) and value in self.choices)

    def read(self, text: str) -> Any:
        """The value of a text; raises ValueError with what would be right."""
        if self.type is bool:
            if text not in ("yes", "no"):
                raise ValueError("yes or no")
            return text == "yes"
        if self.choices and text not in self.choices:
            raise ValueError(" or ".join(self.choices))
        return self.type(text)


@cache
def read_table(table: type) -> Mapping[str, Option]:
    """The options of a table, by their names."""
    return {
        name: _describe(name, *get_args(hint))
        for name, hint in get_type_hints(table, include_extras=True).items()
        if get_origin(hint) is Annotated
    }


def _describe(name: str, hint: Any, option: Option) -> Option:
    """The option with what its annotation says: a union of one plain type and others."""
    option = replace(option, name=name)
    choices: tuple[str, ...] = ()
    for part in get_args(hint):
        if get_origin(part) is Literal:
            choices = tuple(sorted(get_args(part)))  # typing may give an equal one of another order
        elif part in (bool, int, float, str):
            return replace(option, type=part)
    return replace(option, choices=choices)
