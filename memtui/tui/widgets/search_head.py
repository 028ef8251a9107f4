"""The head of the search bar: what is typed, how much was found, and in which view."""

from collections.abc import Collection, Sequence
from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memtui.model.filters import EVERYTHING, FILTER_FIELDS
from memtui.search import query as search_query
from memtui.search.nodes import NO_WORD
from memtui.search.recent import LISTED
from memtui.tui import format
from memtui.tui.widgets.filter_suggester import FilterSuggester
from memtui.tui.widgets.result_list import flat
from memtui.tui.widgets.results import SearchResults, SearchView
from memtui.tui.widgets.text_block import TextBlock

DIM = "$context"


MAX_NOTE_LINES, MAX_NOTE_LINES_ALONE = 4, 10
"""How many lines the notes take at most under what was found, and under nothing."""


TYPED = (
    ("token refresh", "either word, in any form; the last may be unfinished"),
    ('"exact words"', "these words as they stand, punctuation too"),
    ("refr*", "words that begin so"),
    ("-draft", "nothing that holds it"),
    ("retries last week", "a time: what was said then comes first"),
)
"""Pieces of a question, each with what it finds."""


EXAMPLES = {
    "agent": "codex",
    "project": "shop",
    "keyword": "retries",
    "session": "4f2a",
    "after": "yesterday",
    "before": "2025-03",
}
"""What can stand behind a filter's colon, where its values are not listed."""


ASK_CELLS = 19
"""How wide the column of the examples is."""


SHOWN_CHARS = 40
"""How much of a question is said again, in characters."""


KEYS = (("enter", "go"), ("↑ ↓", "choose"), ("tab", "view"))


OF_HITS, ONE_EACH, ALL_OF = "ctrl+o", "one each", "all"


LAST_KEYS = (("alt+↑", "asked before"), ("esc", "back"))
"""The keys, and the one that stands among them where messages are looked through."""


ONLY_IN_MESSAGES = (
    "ctrl+o shows one message of each session, or all: tab goes to the messages."
)


NOT_IN_CONTENTS_YET = (
    "This is so new that the contents have no place for it yet: they make one in a"
    " moment. Press enter again then."
)


ONLY_A_TIME = (
    "“{}” is a time, and no word to look for: type one beside it. Or go to a day with"
    " esc and g."
)


NOTHING_TO_LOOK_UP = "There is no word in “{}” that could be looked up: type one."


def key_hints(view: SearchView, *, is_one_each: bool) -> Content:
    """The keys that can be pressed."""
    turn = (OF_HITS, ALL_OF if is_one_each else ONE_EACH)
    hits = (turn,) if view is SearchView.MESSAGES else ()
    return Content("  ").join(
        Content.assemble((key, "bold $footer-key-foreground"), f" {does}")
        for key, does in (*KEYS, *hits, *LAST_KEYS)
    )


def views(current: SearchView, known: Collection[SearchView]) -> Content:
    """The views, the current one in brackets."""
    told = [
        Content.styled(f"[{view}]", "bold $accent")
        if view is current
        else Content.styled(view, DIM)
        for view in SearchView
        if view in known
    ]
    return Content("  ").join(told) if len(told) > 1 else Content("")


def count_hits(sheet: SearchResults) -> str:
    """How much was found, and how fast."""
    hits = format.counted(len(sheet.results), "hit")
    return f"{hits} · {sheet.took_ms:.0f} ms"


def compose_notes(
    sheet: SearchResults, asked: str, view: SearchView, zone: tzinfo
) -> list[str]:
    """What is said under what was found."""
    told = [note for note in sheet.notes if note != NO_WORD]
    is_empty = len(told) < len(sheet.notes)
    if not (is_empty and sheet.times):
        told += sheet.times
    if sheet.suggestion:
        told.insert(0, f"Did you mean “{sheet.suggestion}”?  ctrl+s looks for that.")
    if is_empty:
        why = ONLY_A_TIME if sheet.times else NOTHING_TO_LOOK_UP
        told.insert(0, why.format(_short(asked)))
    elif not sheet.results and sheet.is_recent:
        told.remove(LISTED)
        told.insert(0, f"Nothing is kept of “{_short(asked)}”.")
    elif not sheet.results:
        told.insert(0, nothing(asked, view, zone))
    if sum(sheet.merged) > len(sheet.results):
        told.append(joined(sheet))
    return told


def joined(sheet: SearchResults) -> str:
    """Of what one moment a session was taken."""
    messages, summaries = sheet.merged
    parts = [
        format.counted(messages, "message") if messages else "",
        format.counted(summaries, "summary and quote", "summaries and quotes")
        if summaries
        else "",
    ]
    told = " and ".join(filter(None, parts))
    return f"One moment of each session, from {told}: tab lists these."


def nothing(asked: str, view: SearchView, zone: tzinfo) -> str:
    """That nothing was found, and what to try next."""
    shown = _short(asked)
    query = search_query.read(asked, zone)
    if query.is_empty:
        return NOTHING_TO_LOOK_UP.format(shown)
    tries = []
    if query.filters != EVERYTHING:
        tries.append("without the filter")
    if query.phrases:
        tries.append("without the quotes")
    if query.without or query.without_phrases:
        tries.append("without what - leaves out")
    if len(query.words) > 1:
        tries.append("fewer words")
    if not asked.rstrip().endswith("*"):
        tries.append("the beginning of a word (refr*)")
    if view is not SearchView.ALL:
        tries.append("another view (tab)")
    advice = f" Try {', or '.join(tries)}." if tries else ""
    return f"Nothing found for “{shown}”.{advice}"


def _short(asked: str) -> str:
    said = flat(asked.strip())
    return said if len(said) <= SHOWN_CHARS else f"{said[: SHOWN_CHARS - 1]}…"


class SearchHelp(TextBlock):
    """The whole grammar, an example of each piece."""

    def lay_out(self, width: int) -> Content:
        """The examples, and beside each what it finds."""
        rows = [*TYPED]
        for name, known in FILTER_FIELDS.items():
            example = EXAMPLES.get(name) or (known.values or ("2025",))[-1]
            rows.append((f"{name}:{example}", known.takes))
        lines = []
        for example, says in rows:
            told = Content.styled(says, DIM).wrap(max(width - ASK_CELLS, 1))
            heads = [f"{example:<{ASK_CELLS}}", *[" " * ASK_CELLS] * len(told)]
            lines += [
                Content.styled(head, "bold") + line
                for head, line in zip(heads, told, strict=False)
            ]
        return Content("\n").join(lines)


class SearchNotes(TextBlock):
    """Sentences, each on a line of its own, in no more lines than there is calm for."""

    def __init__(
        self, sentences: Sequence[str], most: int = MAX_NOTE_LINES_ALONE
    ) -> None:
        self.sentences, self._most = sentences, most

    def lay_out(self, width: int) -> Content:
        """The lines; what is left out is seen to be."""
        lines = [
            line
            for sentence in self.sentences
            for line in Content(flat(sentence)).wrap(max(width, 1))
        ]
        if len(lines) > self._most:
            last = lines[self._most - 1].truncate(max(width - 2, 1))
            lines = [*lines[: self._most - 1], last + " …"]
        return Content("\n").join(lines)


class SearchBar(Vertical):
    """A line to type in, and what was found and where, beside it or under it."""

    def __init__(self, typed: str, views: Collection[SearchView]) -> None:
        super().__init__(id="head")
        self._first, self._views = typed, views
        self.suggester = FilterSuggester()

    def compose(self) -> ComposeResult:
        """The parts; one line where there is room, else two."""
        with Horizontal(id="asking"):
            yield Static("/", id="slash")
            yield Input(
                self._first,
                placeholder="search everything",
                compact=True,
                select_on_focus=True,
                suggester=self.suggester,
                id="query",
            )
        with Horizontal(id="told"):
            yield Static("", id="measure", markup=False)
            yield Static("", id="views", markup=False)

    @property
    def text(self) -> str:
        """What stands there."""
        return self.query_one(Input).value

    def set_text(self, text: str) -> None:
        """Put something else there."""
        line = self.query_one(Input)
        line.value = text
        line.cursor_position = len(text)

    def show_view(self, view: SearchView) -> None:
        """Say what is looked through."""
        told = views(view, self._views)
        self.query_one("#views", Static).update(told)

    def show_count(self, words: str) -> None:
        """Say how much was found."""
        self.query_one("#measure", Static).update(Content(words))
