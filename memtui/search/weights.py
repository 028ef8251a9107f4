"""The weights of the ranking of sessions and messages.

A search ranks by BM25F (S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension
to multiple weighted fields", 2004): a word counts the more, the fewer texts contain it,
and by the weight of the text in which it stands. The weight is the number of times that
a word seems to occur there, so it saturates.

A message counts the less, the longer it is; title, summary and bullets of a session
only if they are longer than an average message. So a word in a title (2) adds 1.8 times
its idf, in an agent's summary (3) 1.9 times, in a user's message of average length
(1.5) 1.2 times.

The rank of a message is the sum of two shares, its own score against the best
message's, and the score of its session, all messages and texts together, against the
best session's. ``quotes`` has the factors of passages, ``node_scoring`` the weights of
nodes and grips.
"""

from memtui.model.events import EventRole
from memtui.text.analyzer import BM25_K1 as K1

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

DATE_BOOST = 2.5  # the factor on the rank of what lies in a period of the query

VAGUE_WEIGHT = 0.5
"""The weight of a word that says nothing about the topic, such as "decide"."""
