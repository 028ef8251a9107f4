"""Extracts: summaries, titles and headlines in the words that were said."""
