"""A report says what was done, decided, committed and left open, with its sources."""

import json
import re
from dataclasses import replace
from datetime import UTC
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memtui.errors import MemtuiError, UsageError
from memtui.model.events import Event, EventRole, content_hash, to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.judgements import Ruling
from memtui.model.nodes import Bullet, BulletKind
from memtui.model.verdicts import SUPPORTED, Support, Verdict
from memtui.services import browse, documents, judging, report, sessions
from memtui.services.documents import Section
from memtui.store import database, nodes, versions
from memtui.text import markdown
from memtui.workspace import Workspace
from tests.conftest import NOW, often
from tests.message_factory import AT, make_message, name_session, store_messages
from tests.model_versions import STATS, unsupported_bullet

GOLDEN = Path(__file__).parents[1] / "data" / "report.md"
ASSISTANT = EventRole.ASSISTANT


def read_report(period: str, scope: Scope = ALL) -> str:
    return report.make_report(report.find_period(period, NOW, UTC), UTC, scope)


def ran(command: str, output: str, at: int) -> Event:
    """Make an event of a command that an agent ran."""
    event = make_message(f"Bash: {command}\n{output}", at, role=EventRole.TOOL)
    tool_input = json.dumps({"command": command})
    return replace(event, metadata={"tool_name": "Bash", "tool_input": tool_input})


def add_decisions(texts: dict[str, Support], *, rejected: str = "") -> None:
    """Add a model's version of the first segment of the history's day in February."""
    (entry,) = browse.list_children("toc:day:2024-02-06")
    with database.transaction():
        before = nodes.get(entry.node_id)
        assert before is not None
        bullets = tuple(
            Bullet(
                text,
                before.bullets[0].grip_ids,
                Verdict(support, is_by_model=True),
                BulletKind.DECISION,
            )
            for text, support in texts.items()
        )
        node = replace(
            before,
            bullets=bullets,
            withheld=(unsupported_bullet("Walruses were chosen."),),
            input_hash=content_hash(*texts),
            generation=STATS,
            rejection=rejected,
        )
        versions.add_from_model(node, to_ms(AT))


def test_report_of_the_made_history(full_workspace: Workspace) -> None:
    assert read_report("2024") == GOLDEN.read_text("utf-8")


def test_decisions_have_their_verdict_and_withheld_lines_are_only_counted(
    full_workspace: Workspace,
) -> None:
    add_decisions(
        {"Orders are in Postgres.": Support.SUPPORTED, "Cents it is.": Support.WEAK}
    )
    text = read_report("2024-02")
    decided = text.partition("### Decided")[2].partition("## Sources")[0]
    assert "- Orders are in Postgres. [" in decided
    assert "- Cents it is. (weak) [" in decided
    assert "Walruses" not in text
    footer = text.partition("---")[2].strip()
    assert footer == (
        "1 session · 4 claims in summaries: 2 ✓ supported, 1 weak, 1 withheld ·"
        " 0 judged"
    )


def test_rejected_versions_are_left_out(full_workspace: Workspace) -> None:
    add_decisions({"Orders are in MySQL.": Support.SUPPORTED}, rejected="made up")
    text = read_report("2024-02")
    assert "MySQL" not in text and "0 withheld" in text


def test_only_what_happened_in_the_period_is_reported(workspace: Workspace) -> None:
    day = 86_400
    store_messages(
        make_message("Count the quokkas of the island.", 0),
        *(
            ran(f"git commit -m 'Count {n}'", f"[main 1a2b3c{n}] Count {n}", 10 + n)
            for n in range(9)
        ),
        make_message("All quokkas are counted.", 50, role=ASSISTANT),
        make_message("And the walruses?", day),
        ran("git commit -m 'Walruses'", "[main 1a2b3d4] Walruses", day + 10),
        make_message("Who counts the seals?", day + 20),
    )
    name_session("s1", project="zoo")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    first, second = read_report("2025-03-14"), read_report("2025-03-15")
    assert all(f"- Count {n} [" in first for n in range(9))
    assert "- Walruses [" in second and "- Count 1 [" not in second
    assert "### Left open\n\n- Not answered: Who counts the seals?" in second
    whole = read_report("2025-03")
    assert "- 14–15 Mar: " in whole and whole.count("(claude-code:s1), ") >= 11
    assert "(no source)" not in whole


def test_judged_lines_are_reported_as_they_are_judged(workspace: Workspace) -> None:
    store_messages(
        make_message("Count the quokkas.", 0),
        *(
            ran(f"git commit -m 'Count {n}'", f"[main 1a2b3c{n}] Count {n}", 10 + n)
            for n in range(3)
        ),
        make_message("All quokkas are counted.", 50, role=ASSISTANT),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    card = sessions.read_card("claude-code", "s1")
    commits = [b for b in card.bullets if b.kind is BulletKind.COMMIT]
    segment_id = card.segments[0].node_id
    judging.judge(segment_id, commits[0], Ruling.REJECTED, AT)
    judging.judge(segment_id, commits[1], Ruling.CORRECTED, AT, words="Count twice")
    line = Bullet("Ask the ranger.", commits[2].grip_ids, kind=BulletKind.ADDED)
    judging.judge(segment_id, line, Ruling.ADDED, AT)
    text = read_report("2025-03-14")
    committed = text.partition("### Committed\n\n")[2].partition("\n\n")[0]
    assert committed.startswith("- Count twice (corrected by you) [")
    assert "\n- Count 2 [" in committed and "Count 0" not in committed
    assert "### Added by hand\n\n- Ask the ranger. (added by you) [" in text


def test_a_report_can_be_narrowed_and_empty(full_workspace: Workspace) -> None:
    text = read_report("2024", Scope(project="logsift"))
    assert text.startswith("# 2024 · logsift\n")
    assert "## logsift" in text and "## shop" not in text
    title = "# Thursday, February 29, 2024"
    nothing = f"{title}\n\nThere are no conversations of this time."
    assert read_report("yesterday") == nothing


@pytest.mark.parametrize(
    "period",
    [
        "gestern",
        "toc:day:x",
        "",
        "toc:nothing",
        "since Monday",
        "evt:1",
        "toc:segment:2024-01-15:01HM6F0000AAAAAAAAAAAAAAAA",
    ],
)
def test_what_is_no_period_says_so(period: str) -> None:
    with pytest.raises(UsageError):
        report.find_period(period, NOW, UTC)


@pytest.mark.parametrize(
    ("period", "node_id"),
    [
        ("last week", "toc:week:2024-W08"),
        ("2024-01", "toc:month:2024-01"),
        ("toc:week:2024-W03", "toc:week:2024-W03"),
        ("yesterday", "toc:day:2024-02-29"),
    ],
)
def test_periods_are_those_of_the_contents(period: str, node_id: str) -> None:
    assert report.find_period(period, NOW, UTC) == node_id


def test_page_without_a_summary_says_so(workspace: Workspace) -> None:
    store_messages(make_message("Count the quokkas.", 0))
    for name in ("s1", "toc:day:2025-03-14", "nobody"):
        with pytest.raises(MemtuiError):
            report.read_page(name, UTC)


def test_page_has_its_bullets_and_sources(full_workspace: Workspace) -> None:
    for name in ("shop-1", "toc:day:2024-01-15", "toc:year:2024"):
        page = report.read_page(name, UTC)
        text = documents.write_markdown([page], UTC)
        assert text.startswith(f"# {page.heading}\n")
        assert text.count("\n- ") == len(page.bullets)
        assert "\n\n[1] " in text and "“" in text


# Text from outside

MARKUP = [
    "# heading",
    "=====",
    "- - item",
    "12) item",
    "> quote",
    "[text](http://evil) ![image](http://evil/x.png)",
    "[1]: http://evil",
    "<b>bold</b> <http://evil> &copy; &#35;",
    "**bold** _it_ snake_case `code` ~~gone~~",
    "```\nfence",
    "| a | b |",
    "a\\",
    "http://evil www.evil.org",
    "line\n# heading\n\n---\n",
]


def fill_everywhere(text: str) -> list[Section]:
    """Return sections with a text wherever there may be one."""
    bullets = [Bullet(text, ("evt:0",), SUPPORTED)] * 2
    return [Section(text, text=text), Section(text, 3, bullets=bullets)]


PLAIN_TOKENS = {"heading", "paragraph", "inline", "bullet_list", "list_item", "hr"}


def check_markdown(text: str) -> None:
    """Check that a text gives no markup, and is shown as it is."""
    document = documents.write_markdown(fill_everywhere(text), UTC, text)
    tokens = MarkdownIt("commonmark").parse(document)
    kinds = {
        token.type.removesuffix("_open").removesuffix("_close") for token in tokens
    }
    assert kinds <= PLAIN_TOKENS
    parts = [token.children or [] for token in tokens if token.type == "inline"]
    assert {part.type for line in parts for part in line} <= {"text", "text_special"}
    line = " ".join(text.split())
    texts = ["".join(part.content for part in line) for line in parts]
    cited = f"{line} [1]"
    ours = ["Sources", "[1] no longer stored"]
    assert texts == [line, line, line, cited, cited, *ours, line]


@pytest.mark.parametrize("text", MARKUP)
def test_stored_text_is_no_markup(workspace: Workspace, text: str) -> None:
    check_markdown(text)


@given(st.text(alphabet="#=-+*_~`<>[]()!&|\\ \n:/1.aw;w", min_size=1, max_size=30))
@often(100)
def test_any_text_is_no_markup(workspace: Workspace, text: str) -> None:
    if text.strip():
        check_markdown(text)


def test_addresses_are_no_links_where_viewers_make_them() -> None:
    assert markdown.escape("see https://a.b and WWW.c.d") == (
        "see https\\://a.b and WWW\\.c.d"
    )


def test_names_in_code_stay_readable() -> None:
    assert markdown.escape("fix token_refresh.rs (#12)") == "fix token_refresh.rs (#12)"


class PageReader(HTMLParser):
    """Reads the tags of a page, and what may refer to something outside."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.places: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.attributes |= values.keys()
        self.links += filter(None, [values.get("href")])
        self.places += filter(None, [values.get("id")])

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", [*MARKUP, "<script>alert(1)</script>", '" onload="x'])
def test_html_has_no_scripts_and_links_only_to_its_sources(
    workspace: Workspace, text: str
) -> None:
    page, plain = (
        PageReader(documents.write_html(fill_everywhere(each), UTC, each))
        for each in (text, "x")
    )
    assert page.tags == plain.tags and page.attributes == plain.attributes
    assert page.attributes == {"charset", "lang", "name", "content", "href", "id"}
    assert page.links == ["#source-1"] * 2 and page.places == ["source-1"]
    assert " ".join(page.text.split()).count(" ".join(text.split())) >= 7


def test_html_says_what_markdown_says(full_workspace: Workspace) -> None:
    node_id = "toc:year:2024"
    page = PageReader(report.make_report(node_id, UTC, as_html=True))
    tokens = MarkdownIt("commonmark").parse(report.make_report(node_id, UTC))
    blocks = [token.children or [] for token in tokens if token.type == "inline"]
    texts = ["".join(part.content for part in line) for line in blocks]
    lines = [line for line in page.text.split("\n") if line.strip()]
    numbered = [re.sub(r"^\[\d+\] ", "", line) for line in texts]
    start = lines.index(numbered[0], 1)
    assert lines[start:] == numbered
    assert [int(link.removeprefix("#source-")) for link in page.links] == [
        *range(1, 11)
    ]
    assert page.places == [link.removeprefix("#") for link in page.links]
