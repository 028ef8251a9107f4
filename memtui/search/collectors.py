"""Which of what is found is kept: that of a scope, whatever else a search is told.

Whoosh's own filter is passed over by a search that has a time limit, and its way to
require a second query fails where a search may skip what cannot be among the best.
"""

from typing import Any

from whoosh.collectors import WrappingCollector


class Within(WrappingCollector):  # type: ignore[misc] # Whoosh has no hints
    """Keeps only documents that another query finds too; it adds nothing to a score."""

    def __init__(self, child: Any, allowed: Any) -> None:
        """Remember who keeps what is left, and the query that says what may be."""
        super().__init__(child)
        self._query = allowed
        self._allowed: Any = frozenset()

    def prepare(self, top_searcher: Any, q: Any, context: Any) -> None:
        """Look up what is allowed, as a search begins."""
        super().prepare(top_searcher, q, context)
        self._allowed = frozenset(top_searcher.docs_for_query(self._query))

    def collect(self, sub_docnum: int) -> Any:
        """Keep a document, if it is allowed."""
        if self.offset + sub_docnum in self._allowed:
            return self.child.collect(sub_docnum)
        return 0
