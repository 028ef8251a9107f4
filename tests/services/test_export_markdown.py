"""A conversation exported as Markdown shows what was said, and runs nothing of it."""

from datetime import UTC
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from memtui.model.events import EventRole
from memtui.services import export
from memtui.services.conversation import ConversationKey
from memtui.services.export import neutralize_markdown
from memtui.workspace import Workspace
from tests.message_factory import make_message, store_messages

UNSAFE = {"html_block", "html_inline", "image"}


def kinds(markdown: str) -> set[str]:
    token_types = set()
    for token in MarkdownIt("commonmark").parse(markdown):
        token_types |= {token.type, *(child.type for child in token.children or ())}
    return token_types


@pytest.mark.parametrize(
    "text",
    [
        "see <b>this</b> ![pixel](http://tracker/a.png)",
        "<div>\n<script>alert(1)</script>\n</div>",
        "> <iframe src=x>\n\n![a][r]\n\n[r]: http://tracker",
        "one ` two\nthree `<img src=x>` four",
        "\\`<img src=x>\\`",
        "- item\n  <img src=x>\n",
        "[![badge](http://tracker)](http://page)",
        "***\n<!-- hidden \n\n`",
        "<?php\n<b>\n?>",
        "<![CDATA[ <b> ]]>",
    ],
)
def test_raw_html_and_images_are_shown_as_text(text: str) -> None:
    assert kinds(text) & UNSAFE
    assert not kinds(neutralize_markdown(text)) & UNSAFE


@pytest.mark.parametrize(
    "text",
    [
        "plain `List<String>` and **bold**",
        "```html\n<p>\n```",
        "    <code>",
        "1 < 2 and 3 > 2",
        "<https://example.org>",
    ],
)
def test_code_and_comparisons_stay_as_they_are(text: str) -> None:
    assert neutralize_markdown(text) == text


def test_two_texts_do_not_make_html_or_images_together() -> None:
    opening = neutralize_markdown("```\nnot closed")
    after = neutralize_markdown("```\n<img src=x>\n```")
    assert not kinds(f"{opening}\n\n{after}") & UNSAFE
    address = neutralize_markdown("[r]: http://tracker")
    assert "image" not in kinds(f"{address}\n\n{neutralize_markdown('![a][r]')}")


def test_tag_characters_are_not_exported(workspace: Workspace, tmp_path: Path) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    store_messages(make_message(f"A walrus{hidden}!", session="zoo", agent="bot"))
    file = tmp_path / "zoo.md"
    lines = export.write_conversation(ConversationKey("bot", "zoo"), UTC)
    export.write_lines(file, lines, may_replace=False)
    assert "A walrus!" in file.read_text("utf-8")


@pytest.mark.parametrize(
    "output",
    [
        "```\n<img src=x>\n~~~~",
        "    deep\n\t<b>\n\n# heading\n\n\n- item",
        "a\r<b>\r\n- c",
    ],
)
def test_calls_and_their_output_are_shown_as_they_are(
    workspace: Workspace, output: str
) -> None:
    call = "Bash: echo <b> `x` ![a](http://b) *c*"
    store_messages(
        make_message("- an item", session="zoo"),
        make_message(f"{call}\n{output}", 1, session="zoo", role=EventRole.TOOL),
        make_message("Done.", 2, session="zoo"),
    )
    lines = export.write_conversation(ConversationKey("claude-code", "zoo"), UTC)
    tokens = MarkdownIt("commonmark").parse("\n".join(lines))
    (code,) = [token.content for token in tokens if token.type == "code_block"]
    assert code.splitlines() == output.splitlines()
    (called,) = [token for token in tokens if "Bash" in token.content]
    plain = "".join(child.content for child in called.children or ())
    assert plain.endswith(f" tool {call}")
    assert not {token.type for token in tokens} & {"fence", "html_block"}
