"""What can be asked of the memory: one set of functions for screens, shell and agents.

Nothing here changes what is kept. Every function opens its own connection and may be
called from any thread.
"""
