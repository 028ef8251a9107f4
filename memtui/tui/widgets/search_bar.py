"""The search bar: the input with its completions, the number of hits, and the notes.

It also holds the help on the query syntax that is shown before anything is typed.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, Static

from memtui.model.filters import EVERYTHING, FILTER_FIELDS
from memtui.search import query as search_query
from memtui.search.nodes import NO_WORD
from memtui.search.recent import NOTE
from memtui.services.browse import ScopeChoices
from memtui.tui import format
from memtui.tui.widgets.result_list import SearchResults, SearchView, to_line
from memtui.tui.widgets.text_block import TextBlock

DIM = "$context"

MAX_NOTE_LINES, MAX_NOTE_LINES_ALONE = 4, 10
"""The most lines of notes below results, and without results."""

SYNTAX = (
    ("token refresh", "either word, in any form; the last one may be incomplete"),
    ('"exact words"', "these words exactly, with punctuation"),
    ("refr*", "words with this beginning"),
    ("-draft", "exclude results with this word"),
    ("retries last week", "a time: its results come first"),
)

EXAMPLES = {
    "agent": "codex",
    "project": "shop",
    "keyword": "retries",
    "session": "4f2a",
    "after": "yesterday",
    "before": "2025-03",
}
"""Values of the filters that have no fixed list of values."""

EXAMPLE_CELLS = 19
"""The width of the column of examples."""

MAX_QUERY = 40
"""The length of a query in a note, in characters."""

ONLY_IN_MESSAGES = "ctrl+o works in the messages view (tab)."

NOT_IN_CONTENTS_YET = (
    "This is too new: the contents do not have it yet. Press enter again in a moment."
)

ONLY_A_TIME = (
    "“{}” is only a date: add a word to search for, or go to a day with esc and g."
)

NOTHING_TO_LOOK_UP = "“{}” contains no word to search for."

MIN_COMPLETED = 3
"""From this length on, in characters, a word may be the beginning of a filter."""


class SearchBar(Vertical):
    """An input, with the number of hits and the views beside or below it."""

    def __init__(self, text: str, views: Collection[SearchView]) -> None:
        super().__init__(id="head")
        self._initial, self._views = text, views
        self.suggester = FilterSuggester()

    def compose(self) -> ComposeResult:
        with Horizontal(id="query-line"):
            yield Static("/", id="slash")
            yield Input(
                self._initial,
                placeholder="search everything",
                compact=True,
                select_on_focus=True,
                suggester=self.suggester,
                id="query",
            )
        with Horizontal(id="count-line"):
            yield Static("", id="count", markup=False)
            yield Static("", id="views", markup=False)

    @property
    def text(self) -> str:
        return self.query_one(Input).value

    def set_text(self, text: str) -> None:
        line = self.query_one(Input)
        line.value = text
        line.cursor_position = len(text)

    def show_view(self, current: SearchView) -> None:
        """Show the views, the current one in brackets."""
        names = [
            Content.styled(f"[{view}]", "bold $accent")
            if view is current
            else Content.styled(view, DIM)
            for view in SearchView
            if view in self._views
        ]
        text = Content("  ").join(names) if len(names) > 1 else Content("")
        self.query_one("#views", Static).update(text)

    def show_count(self, text: str) -> None:
        self.query_one("#count", Static).update(Content(text))


class FilterSuggester(Suggester):
    """Completes the last word of a query to the name or value of a filter."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._values: dict[str, tuple[str, ...]] = {}

    def set_parts(self, parts: ScopeChoices) -> None:
        """Set the agents, projects and keywords to complete."""
        values = {"agent": parts.agents, "project": parts.projects}
        values["keyword"] = parts.keywords
        self._values = {
            name: tuple(value for value, _ in counted)
            for name, counted in values.items()
        }

    async def get_suggestion(self, value: str) -> str | None:
        """Return the query with its last word completed, None if there is no way."""
        word = value.rpartition(" ")[2]
        name, colon, rest = word.partition(":")
        field = name.lower()
        if colon and field in FILTER_FIELDS:
            # Values are separated by commas; the last one may be incomplete.
            begun = rest.rpartition(",")[2]
            values = FILTER_FIELDS[field].values or self._values.get(field, ())
            # A value with a space would need quotes.
            return _complete(value, begun, (v for v in values if " " not in v))
        if len(word) < MIN_COMPLETED:
            return None
        return _complete(value, word, (f"{field}:" for field in FILTER_FIELDS))


def _complete(query: str, begun: str, values: Iterable[str]) -> str | None:
    for value in values:
        if value.lower().startswith(begun.lower()) and len(value) > len(begun):
            return query + value[len(begun) :]
    return None


# Notes


def count_hits(found: SearchResults) -> str:
    hits = format.quantity(len(found.results), "hit")
    return f"{hits} · {found.took_ms:.0f} ms"


def compose_notes(
    found: SearchResults, query: str, view: SearchView, zone: tzinfo
) -> list[str]:
    """Return the notes to show below the results, each a sentence."""
    notes = [note for note in found.notes if note != NO_WORD]
    has_no_word = len(notes) < len(found.notes)
    if not (has_no_word and found.times):
        notes += found.times
    if found.suggestion:
        notes.insert(0, f"Did you mean “{found.suggestion}”? (ctrl+s)")
    if has_no_word:
        reason = ONLY_A_TIME if found.times else NOTHING_TO_LOOK_UP
        notes.insert(0, reason.format(_shorten(query)))
    elif not found.results and found.is_recent:
        notes.remove(NOTE)
        notes.insert(0, f"There is nothing for “{_shorten(query)}”.")
    elif not found.results:
        notes.insert(0, _advise(query, view, zone))
    if found.merged > len(found.results):
        total = format.number(found.merged)
        notes.append(f"Best hit per session of {total} (tab: all).")
    return notes


def _advise(text: str, view: SearchView, zone: tzinfo) -> str:
    """Return that nothing was found, and what to try next."""
    shown = _shorten(text)
    query = search_query.parse(text, zone)
    if query.is_empty:
        return NOTHING_TO_LOOK_UP.format(shown)
    advice = []
    if query.filters != EVERYTHING:
        advice.append("without the filter")
    if query.phrases:
        advice.append("without the quotes")
    if query.excluded or query.excluded_phrases:
        advice.append("without the excluded words (-)")
    if len(query.words) > 1:
        advice.append("fewer words")
    if not text.rstrip().endswith("*"):
        advice.append("the beginning of a word (refr*)")
    if view is not SearchView.ALL:
        advice.append("another view (tab)")
    hint = f" Try {', or '.join(advice)}." if advice else ""
    return f"Nothing found for “{shown}”.{hint}"


def _shorten(query: str) -> str:
    text = to_line(query.strip())
    return text if len(text) <= MAX_QUERY else f"{text[: MAX_QUERY - 1]}…"


class SearchHelp(TextBlock):
    """The query syntax, with an example of each part."""

    def compose_lines(self, width: int) -> Content:
        rows = [*SYNTAX]
        for name, field in FILTER_FIELDS.items():
            example = EXAMPLES.get(name) or (field.values or ("2025",))[-1]
            rows.append((f"{name}:{example}", field.description))
        lines = []
        for example, description in rows:
            text = Content.styled(description, DIM).wrap(max(width - EXAMPLE_CELLS, 1))
            heads = [f"{example:<{EXAMPLE_CELLS}}", *[" " * EXAMPLE_CELLS] * len(text)]
            lines += [
                Content.styled(head, "bold") + line
                for head, line in zip(heads, text, strict=False)
            ]
        return Content("\n").join(lines)


class SearchNotes(TextBlock):
    """Sentences on lines of their own, cut off after a number of lines."""

    def __init__(self, sentences: Sequence[str], most: int) -> None:
        self.sentences, self._most = sentences, most

    def compose_lines(self, width: int) -> Content:
        """Compose the lines for a width in cells; the last one shows a cut."""
        lines = [
            line
            for sentence in self.sentences
            for line in Content(to_line(sentence)).wrap(max(width, 1))
        ]
        if len(lines) > self._most:
            last = lines[self._most - 1].truncate(max(width - 2, 1))
            lines = [*lines[: self._most - 1], last + " …"]
        return Content("\n").join(lines)
