"""The tables. Everything about their meaning is said by their twins in ``memory``."""

from memtui.store.tables import contents, conversations, keeping, working

ALL = (
    keeping.MetaRow,
    conversations.SessionRow,
    conversations.EventRow,
    conversations.TellingRow,
    conversations.ThoughtRow,
    conversations.HelperRow,
    contents.SegmentRow,
    contents.TermRow,
    contents.VersionRow,
    contents.MakingRow,
    contents.NodeRow,
    contents.BulletRow,
    contents.GripRow,
    contents.BulletGripRow,
    working.OutboxRow,
    working.CheckpointRow,
    working.CursorRow,
    working.SeenRow,
    keeping.RedactionRow,
    keeping.TombstoneRow,
    working.ProblemRow,
    working.JobRow,
    working.JobRunRow,
    keeping.ForgettingRow,
)
"""Every table, in the order they can be made."""
