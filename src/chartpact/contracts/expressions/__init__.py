"""Expressions: parsed as Starlark, checked into typed nodes, and turned into Python code.

`values` says what names stand for and `nodes` what expressions mean. `parse`, `calls` and `check`
lead from text to nodes, and `codegen` from nodes to code.
"""
