"""What a contract must prove before it is used: its sections, one by one.

`config`, `elements`, `machines` and `outputs` each check a section. `contract` puts them together,
and `generate` writes the code that reads snapshots.
"""
