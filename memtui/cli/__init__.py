"""The command line: a table of commands, and a module for each group of them."""
