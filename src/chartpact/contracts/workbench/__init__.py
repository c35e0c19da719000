"""The tools of contract authors: examples, the mutation test, diffs, pages and types.

Reading needs none of it: nothing outside this folder and the command line imports it.
"""
