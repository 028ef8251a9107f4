"""Bring events in: read hook files and transcripts, filter them, store them."""
