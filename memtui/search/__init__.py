"""Search: messages in an FTS5 index, nodes and grips in a Whoosh index, quotes."""
