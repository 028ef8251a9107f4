"""The teleport index: nodes and grips, found by their words. The only Whoosh."""
