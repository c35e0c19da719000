"""From a checked syntax tree to Python code that counts its steps."""
