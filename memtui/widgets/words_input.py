"""A line to type words in that narrow or find what stands on the screen."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class WordsInput(Input):
    """Leaves enter and escape to the screen, at once: the next key finds it done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.keep_words", "stay", key_display="enter"),
        Binding("escape", "screen.back", "go back", key_display="esc"),
    ]

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, id="words")

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether the key is typed here; Textual knows no character of "slash"."""
        return key == "slash" or super().check_consume_key(key, character)
