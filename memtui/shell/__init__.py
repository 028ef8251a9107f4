"""What the command line prints: for people as text, with ``--json`` for programs."""
