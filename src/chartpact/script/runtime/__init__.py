"""What compiled code works with: values, operators, builtins, and the meter that counts steps."""
