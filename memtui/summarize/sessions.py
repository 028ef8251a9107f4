"""Describes sessions by what is stored of them."""

from memtui.model.sessions import Session, SessionWork
from memtui.store import judgements, work
from memtui.summarize import card


def describe(number: int, session: Session) -> SessionWork:
    """Return what a session is called and what came of it, as it is judged."""
    if not work.has_facts(number):
        return SessionWork()
    described = card.describe_session(
        work.read_facts(number),
        model_title=work.find_model_title(number),
        agent_title=session.agent_title,
        is_title_given=session.is_title_given,
    )
    return judgements.judge_work(described, work.read_judgements(number))
