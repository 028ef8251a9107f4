"""memtui keeps your conversations with coding agents and makes them readable."""

__version__ = "0.1.0"
