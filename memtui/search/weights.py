"""All weights of the ranking.

A search ranks by BM25F (S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension
to multiple weighted fields", 2004): a word counts the more, the fewer texts contain it,
and by the weight of the text in which it stands. The weight is the number of times that
a word seems to occur there, so it saturates.

A message counts the less, the longer it is; title, summary and bullets of a session
only if they are longer than an average message. So a word in a title (2) adds 1.8 times
its idf, in an agent's summary (3) 1.9 times, in a user's message of average length
(1.5) 1.2 times.

Messages and sessions (``ranking``): the rank of a message is the sum of two shares, its
own score against the best message's, and the score of its session, all messages
and texts together, against the best session's.

Nodes and grips (``node_scoring``, ``node_index``): the weight of a term in a document
depends on that document alone, so the index stores it. A score is the sum of the
weights times the terms' idf, divided by the most that it could be, times the share of
the query's terms that the document has: 0 to less than 1.
"""

from enum import StrEnum

from memtui.model.calendar import TocLevel
from memtui.model.events import EventRole
from memtui.text.analyzer import BM25_K1 as K1

# Messages and sessions

SESSION_SUMMARY = 3.0  # the summary that an agent gave its session
SESSION_TITLE = 2.0  # its name, and the title that its agent gave it
SESSION_BULLETS = 0.5  # headlines and bullets of its segments: most repeat messages

ROLE_WEIGHTS = {
    EventRole.USER: 1.5,
    EventRole.ASSISTANT: 1.0,
    EventRole.SYSTEM: 1.0,
    EventRole.TOOL: 1.0,
}

TOOL_TURN = 1.3  # the factor on the weight of a message that calls of tools follow

B = 0.6
"""BM25's b: how much the length of a message matters, from 0 to 1."""

NEAR_WORDS = 8
"""Two words of the query at most this many words apart add the idf of the more frequent
one. The query or an identifier as it was typed adds the idfs of all its terms."""

MAX_TERM_SCORE = (K1 + 1) / (1 + K1 * (1 - B))
"""The most that a term adds to a message's score, as a multiple of its idf."""

DATE_BOOST = 1.5  # the factor on the rank of what lies in a period of the query

VAGUE_WEIGHT = 0.5
"""The weight of a word that says nothing about the topic, such as "decide"."""

# Nodes and grips. Raise ``node_index.VERSION`` after a change: the index stores them.


class NodeField(StrEnum):
    """A searchable part of a node or a grip."""

    TITLE = "title"
    HEADLINE = "headline"
    KEYWORDS = "keywords"
    BULLETS = "bullets"
    EXCERPT = "excerpt"


FIELD_WEIGHTS = {
    NodeField.TITLE: 4.0,
    NodeField.HEADLINE: 4.0,
    NodeField.KEYWORDS: 2.0,
    NodeField.BULLETS: 1.0,
    NodeField.EXCERPT: 2.0,
}

TYPICAL_LENGTH = {NodeField.BULLETS: 20, NodeField.EXCERPT: 25}
"""The usual number of terms of a text; in other fields the length does not matter."""

NODE_B = 0.5
"""BM25's b for nodes."""

NODE_K1 = 0.6
"""BM25's saturation for nodes. It is small: one occurrence in a title is worth 0.87,
one in a bullet 0.62."""

LEVEL_WEIGHTS = {
    TocLevel.SEGMENT: 1.0,
    TocLevel.DAY: 0.99,
    TocLevel.WEEK: 0.98,
    TocLevel.MONTH: 0.97,
    TocLevel.YEAR: 0.96,
}
"""Among equals the narrower node comes first."""

STEMMED = 0.95  # another form of a word, against the word as typed
PARTS = 0.8  # the parts of an identifier, against the whole
COMPLETED = 0.8  # a word that begins with the unfinished one
