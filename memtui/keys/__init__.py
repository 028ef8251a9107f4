"""Keys: each answered in its turn, and none in silence."""
