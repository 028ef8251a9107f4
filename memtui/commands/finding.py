"""Finding: what leads from anywhere to a moment."""

from memtui.commands.command import Command, Group

FINDING = (
    Command(
        "teleport",
        ("slash",),
        "/",
        "teleport",
        "Find any moment by a few words, and jump there.",
        Group.FIND,
        in_footer=True,
    ),
    Command(
        "go_to_date",
        ("g",),
        "g",
        "date",
        "Go to a year, a month, a week or a day.",
        Group.FIND,
        in_footer=True,
    ),
)
