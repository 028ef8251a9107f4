"""Finding: what leads from anywhere to a moment."""

from memtui.commands.command import Command, Group

FINDING = (
    Command(
        "teleport",
        ("slash",),
        "/",
        "find",
        "Find any moment by a few words, and jump there.",
        Group.FIND,
        in_footer=True,
        where="It works in the contents: esc leads there.",
    ),
    Command(
        "go_to_date",
        ("g",),
        "g",
        "date",
        "Go to a year, a month, a week or a day.",
        Group.FIND,
        in_footer=True,
        where="It works in the contents: esc leads there.",
    ),
    Command(
        "see_sessions",
        ("s",),
        "s",
        "sessions",
        "See the sessions: with whom, of what, when and how long; and read one.",
        Group.FIND,
    ),
    Command(
        "find_here",
        ("slash",),
        "/",
        "find",
        "Find words in what is open: in the list of sessions, or in a conversation.",
        Group.FIND,
    ),
    Command(
        "sort",
        ("S",),
        "S",
        "sort",
        "List the newest first, the oldest, the longest, those of most messages, or all"
        " by title.",
        Group.FIND,
        where="Sessions are sorted in their list: s.",
    ),
    Command(
        "see_days",
        ("c",),
        "c",
        "calendar",
        "See how much was said on each day, year by year, and go to one of them.",
        Group.FIND,
    ),
    Command(
        "narrow",
        ("F",),
        "F",
        "filter",
        "Show one agent, one project or one keyword alone, everywhere; F F shows all.",
        Group.FIND,
        in_footer=True,
        where="It works in the contents, the sessions and the calendar.",
    ),
)
