"""The stages and the model's jobs, a line each."""

from datetime import tzinfo
from typing import ClassVar

from textual.binding import BindingType
from textual.widgets.option_list import Option

from memtui import commands
from memtui.memory.jobs import Job
from memtui.widgets import job_words
from memtui.widgets.job_words import Told
from memtui.widgets.options import Options

NAMES = (*job_words.STAGES, *Job)
"""What is listed, in this order."""


class JobList(Options, inherit_bindings=False):
    """Moves through them."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Go to all there is to say of this job or stage.",
    )  # fmt: skip
    CALLED = "In the list of the work"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="work", markup=False)
        self._zone = zone
        for name in NAMES:
            if name == Job.SEGMENTS:
                self.add_option(None)
            self.add_option(Option(job_words.row(name, Told(), zone), id=name))
        self.highlighted = 0

    @property
    def pointed_at(self) -> str:
        """The name of the stage or the job the cursor is on."""
        return str(NAMES[self.highlighted or 0])

    def show(self, told: Told) -> None:
        """Show how all of them stand; the cursor stays where it is."""
        for name in NAMES:
            row = job_words.row(name, told, self._zone)
            if str(row) != str(self.get_option(name).prompt):
                self.replace_option_prompt(name, row)

    def action_open(self) -> None:
        """Go to all there is of it."""
        self.action_select()
