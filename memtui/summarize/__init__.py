"""Turn events into summaries: segments, facts, cards, extracts, roll-ups, keywords."""
