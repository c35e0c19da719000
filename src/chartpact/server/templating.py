"""Pages from templates, in which every value is escaped."""

import time
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


@cache
def _template(name: str) -> Template:
    loader = PackageLoader("chartpact.server", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["day"] = _day
    return environment.get_template(name)


def _day(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at_ms / 1000))


def render(name: str, **values: Any) -> str:
    """The page of a template; what is no `Markup` is escaped."""
    return _template(name).render(values)
