"""The language of contracts: a file's text as checked sections and typed expressions.

`document` parses the YAML and `model` checks the shape of its sections. `values` defines kinds and
names, `nodes` the typed nodes of an expression, and `expressions` makes nodes of text. `codecs` are
the grammars of payloads.
"""
