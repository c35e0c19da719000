"""What authors of strategies need: examples, changes of them and of the file, diff, pages."""
