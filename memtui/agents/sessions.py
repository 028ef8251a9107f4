"""Accounts: the sessions there are and what was said in them, as replies."""

from datetime import tzinfo

from memtui.agents import formatting, replies
from memtui.agents.replies import Plain, Reply
from memtui.model.scope import ALL, Scope
from memtui.search import resolve_filters
from memtui.services import sessions
from memtui.text import date_format
from memtui.text.fencing import line as neutral

SEE_SESSIONS = "Those there are: list_sessions."


class Accounts:
    """Answers what is asked of sessions."""

    def __init__(self, zone: tzinfo) -> None:
        """Remember the calendar.

        Args:
            zone: The calendar's.
        """
        self._zone = zone

    def list_sessions(
        self, *, offset: int = 0, limit: int = 20, of: Scope = ALL
    ) -> Reply:
        """A page of the sessions, the one that was heard of last first."""
        page = sessions.listed(
            agent=of.agent,
            project=of.project,
            offset=max(0, offset),
            limit=max(1, limit),
        )

        def after(kept: int) -> Plain:
            on = page.offset + kept
            return {"total": page.total, "next_offset": on if on < page.total else None}

        return Reply(
            "sessions",
            [formatting.session(one, self._zone) for one in page.sessions],
            formatting.session_line,
            notes=() if page.sessions else (_none(page.total, "session"),),
            after=after,
            ahead=page.offset + len(page.sessions) < page.total,
        )

    def get_session_meta(self, session: str) -> Reply:
        """What is known of one session, named by ``[agent:]id`` or how that begins.

        The items are what it was about. Where there is no such session, or more than
        one, the answer is empty and says so.
        """
        try:
            known = sessions.facts(*resolve_filters.find(session))
        except resolve_filters.NotOne as error:
            return nobody("about", error)
        one = known.session
        about = formatting.session(one, self._zone) | {
            "began": date_format.iso_minute(one.created_at, self._zone),
            "branch": neutral(one.branch),
            "model": neutral(one.model),
            "events": known.events,
            "segments": known.segments,
            "subagents": len(known.subagents),
        }
        lead = [formatting.session_line(about)]
        lead.append(
            " · ".join(
                f"{k}: {about[k]}"
                for k in ("began", "branch", "model", "segments")
                if about[k]
            )
        )
        said = [one.summary] if one.summary else []
        told = [{"text": neutral(text)} for text in (*said, *known.summary)]
        return Reply(
            "about",
            told,
            lambda item: f"- {item['text']}",
            about,
            lead,
            is_headed=True,
        )

    def list_messages(
        self,
        session: str,
        *,
        offset: int = 0,
        limit: int = 20,
        subagent: str = "",
        is_all: bool = False,
    ) -> Reply:
        """A page of what was said in a session, oldest first.

        With ``is_all`` what tools answered too, and where it was broken off.
        Where there is no such session, or more than one, the answer is empty and says
        so.
        """
        try:
            known = sessions.facts(*resolve_filters.find(session))
        except resolve_filters.NotOne as error:
            return nobody("messages", error)
        page = sessions.page(
            known,
            offset=max(0, offset),
            limit=max(1, limit),
            subagent=subagent,
            is_all=is_all,
        )

        def after(kept: int) -> Plain:
            on = page.offset + kept
            return {"total": page.total, "next_offset": on if on < page.total else None}

        return Reply(
            "messages",
            [formatting.event(one, self._zone) for one in page.events],
            formatting.dated_event_line,
            notes=() if page.events else (_none(page.total, "message"),),
            after=after,
            ahead=page.offset + len(page.events) < page.total,
        )


def nobody(name: str, error: resolve_filters.NotOne) -> Reply:
    """What is answered of a session that is not there, or could be any of several.

    Args:
        name: What the items would be called.
        error: Why it is not one.
    """
    said = replies.problem(error).message.splitlines()
    said += [SEE_SESSIONS] if isinstance(error, resolve_filters.Unknown) else []
    return Reply(name, (), str, notes=[neutral(line) for line in said])


def _none(total: int, what: str) -> str:
    """Why a page is empty."""
    if not total:
        return f"There is no such {what}."
    return f"The offset lies behind the last {what}: there are {total:,}."
