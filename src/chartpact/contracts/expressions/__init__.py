"""Expressions: parsed as Starlark, held to a whitelist, given kinds, and turned into Python code.

The syntax tree is walked once. Each node yields a kind and a piece of code made only of index
lookups on rows, names with a prefix of our own, and literals that were written anew; nothing of the
author's text reaches the code otherwise. Knowledge that a value is there flows through `and`, `or`,
`not` and `if` as a set of dotted paths.
"""

from chartpact.contracts.expressions.calls import FUNCTIONS
from chartpact.contracts.expressions.compiled import Compiled, Reference, Vocabulary
from chartpact.contracts.expressions.forms import compile_condition, compile_expression
from chartpact.contracts.expressions.parse import parse

__all__ = [
    "FUNCTIONS",
    "Compiled",
    "Reference",
    "Vocabulary",
    "compile_condition",
    "compile_expression",
    "parse",
]
