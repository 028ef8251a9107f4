"""Say what a session or a segment was about, by its facts and by quotations.

No rule looks at wording: a commit names work better than a prompt, and the agent's last
words say better what came of it than a choice among its words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memtui.model.nodes import (
    BULLET_CHARS,
    TITLE_CHARS,
    BulletKind,
    DraftBullet,
    Summary,
)
from memtui.model.sessions import SessionWork, WorkState
from memtui.model.work import Commit, EndKind, Facts, Line, OpenEnd, TestRun
from memtui.text.plain import plain_lines, shorten, shorten_addresses

IDENTITY = "extractive-18"
"""The name and the version of the rules; another version makes new summaries."""

OUTCOME_CHARS = 200
MAX_FILES = 4
MAX_COMMITS = 6
MAX_ANSWERS = 6
MAX_FAILED = 3
MAX_EVENT_IDS = 5

MAX_DEPTH = 20
"""The most parts of a relative path for which an absolute one is looked up."""

CONTINUED = " (continued)"
"""The end of a title that names the request of an earlier segment."""

MIN_SHARE = 0.1
"""A request with this share of a session's events can name it."""

MIN_LINE_CHARS = 20
"""A shorter first line of a request does not name work without the next one."""

_NAMELESS = re.compile(r"Merge |fixup!|squash!|amend!|wip\b", re.IGNORECASE)
"""The beginning of a commit's subject that does not say what was done."""

_COMMIT_TYPE = re.compile(
    r"(?:build|chore|ci|docs|feat|fix|perf|refactor|style|tests?)(?:\([^)]*\))?!?: +",
    re.IGNORECASE,
)


NOTHING_SAID = "Nothing was said"
"""The name of work without a request, a commit and an answer."""


def describe_session(
    facts: Facts,
    *,
    model_title: str = "",
    agent_title: str = "",
    is_title_given: bool = False,
) -> SessionWork:
    """Return what a session is called, and what came of it.

    Args:
        facts: What its events show.
        model_title: The title that a model gave it.
        agent_title: The agent's own title.
        is_title_given: The user gave it this title, in the agent.
    """
    if is_title_given and agent_title:
        name = Line(shorten(agent_title, TITLE_CHARS), "")
    elif model_title:
        name = Line(shorten(model_title, TITLE_CHARS), "")
    else:
        name = name_session(facts, agent_title)
    outcome = find_outcome(facts)
    state, state_event_id = find_state(facts)
    if not name.text:
        name = Line(_name_by_reply(facts), outcome.event_id)
    return SessionWork(
        name=name.text,
        state=state,
        outcome=outcome.text,
        left_open=tuple(find_left_open(facts)),
        name_event_id=name.event_id,
        outcome_event_id=outcome.event_id,
        state_event_id=state_event_id,
    )


# Name


def name_session(facts: Facts, agent_title: str = "") -> Line:
    """Return the name that facts give to a session, and the event it is from."""
    titled = [request for request in facts.pull_requests if request.title]
    if titled:
        title = strip_commit_type(titled[0].title)
        return Line(_count_more(title, len(titled) - 1), titled[0].event_id)
    if commits := rank_commits(facts):
        title = strip_commit_type(commits[0].subject)
        return Line(_count_more(title, len(commits) - 1), commits[0].event_id)
    if agent_title:
        return Line(shorten(agent_title, TITLE_CHARS), "")
    return _name_by_request(facts)


def rank_commits(facts: Facts) -> list[Commit]:
    """Return the commits that can name work, the largest first."""
    own = [commit for commit in facts.commits if not _NAMELESS.match(commit.subject)]
    return sorted(own, key=lambda commit: -commit.lines)


def strip_commit_type(subject: str) -> str:
    """Remove the type and scope from a subject: "fix(api): Retry" is "Retry"."""
    if kind := _COMMIT_TYPE.match(subject):
        bare = subject[kind.end() :]
        return bare[:1].upper() + bare[1:]
    return subject


def _count_more(title: str, more: int) -> str:
    """Return a title with the number of others, within the limit."""
    ending = f" (+{more} more)" if more else ""
    return shorten(title, TITLE_CHARS - len(ending)) + ending


def _name_by_request(facts: Facts) -> Line:
    """Name a session by the first request that took much of it, else the largest."""
    requests = [request for request in facts.requests if request.text]
    if not requests:
        return Line("", "")
    least = MIN_SHARE * sum(request.events for request in requests)
    large = (request for request in requests if request.events >= least)
    request = next(large, max(requests, key=lambda request: request.events))
    return Line(name_request(request.text), request.event_id)


def _name_by_reply(facts: Facts) -> str:
    return shorten(find_outcome(facts).text, TITLE_CHARS) or NOTHING_SAID


def name_request(text: str) -> str:
    """Return the first line of a request; the next one, too, if it is short."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    attached = [line.startswith("[") and line.endswith("]") for line in lines]
    if not all(attached):
        lines = [line for line, skip in zip(lines, attached, strict=True) if not skip]
    name = ""
    for line in lines:
        name = f"{name} {line}".strip()
        if len(name) >= MIN_LINE_CHARS and not line.endswith((":", "：")):
            break
    # A request that is nothing but an address keeps it.
    return shorten(shorten_addresses(name) if " " in name else name, TITLE_CHARS)


# Outcome, state and open work


def find_outcome(facts: Facts) -> Line:
    """Return the beginning of the agent's last message."""
    reply = facts.reply or Line("", "")
    return Line(shorten(reply.text, OUTCOME_CHARS), reply.event_id)


def find_state(facts: Facts) -> tuple[WorkState, str]:
    """Return in which state a session ended, and the event that shows it.

    Ids of events are in the order of time.
    """
    end, end_id = facts.end, facts.end_event_id
    commit = _last_id(facts.commits)
    merge = _last_id(facts.merges)
    push = max(_last_id(facts.pushes), _last_id(facts.pull_requests))
    change = max(commit, _last_id(facts.files))
    request = _last_id(facts.requests)
    failed = _find_failed_run(facts)
    if end is EndKind.REQUEST:
        return WorkState.OPEN, end_id
    if end is EndKind.ERROR:
        has_work = facts.reply or change
        return WorkState.OPEN if has_work else WorkState.FAILED, end_id
    if end is EndKind.INTERRUPTED and request > max(commit, push, merge):
        return WorkState.ABANDONED, end_id
    if end is EndKind.CALL and end_id > max(commit, push, merge):
        return WorkState.OPEN, end_id
    if failed:
        state = WorkState.OPEN if end is EndKind.QUESTION else WorkState.FAILED
        return state, failed.event_id
    if merge and merge >= commit:
        return WorkState.MERGED, merge
    if push and push >= commit:
        return WorkState.PUSHED, push
    if change:
        return WorkState.DONE, change
    if end is EndKind.QUESTION:
        return WorkState.OPEN, end_id
    return WorkState.ANSWERED, end_id


def _last_id(items: Sequence[object]) -> str:
    event_id = getattr(items[-1], "event_id", "") if items else ""
    return str(event_id)


def _find_failed_run(facts: Facts) -> TestRun | None:
    """Return the last test run if tests failed, and nothing was published since."""
    run = facts.test_runs[-1] if facts.test_runs else None
    published = (facts.commits, facts.pushes, facts.pull_requests, facts.merges)
    is_last = run and run.event_id > max(map(_last_id, published))
    return run if run and run.failed and is_last else None


def find_left_open(facts: Facts) -> list[OpenEnd]:
    """Return what calls and the end of a session show to be unfinished.

    The agent's closing question is not: most offer something after the work is done.
    """
    lines: list[OpenEnd] = []

    def add(text: str, event_id: str, kind: str, subject: str) -> None:
        text = shorten(text, BULLET_CHARS)
        lines.append(OpenEnd(text, event_id, kind, subject))

    prompt = facts.requests[-1].text if facts.requests else ""
    if len(prompt) < MIN_LINE_CHARS or prompt.endswith("…"):
        prompt = ""  # "continue" can mean other work later, and so can a cut prompt.
    if facts.end is EndKind.REQUEST and facts.end_text:
        text = f"Not answered: {facts.end_text}"
        add(text, facts.end_event_id, "requests", prompt)
    for line in _find_unfinished(facts):
        add(line.text, line.event_id, "requests", prompt)
    if run := _find_failed_run(facts):
        text = f"Tests: {describe_run(run)}"
        add(text, run.event_id, "test_runs", run.command)
    for task in facts.open_tasks or ():
        add(task.text, task.event_id, "done_tasks", task.text)
    return lines


def _find_unfinished(facts: Facts) -> Iterator[Line]:
    """Yield the call that the agent was stopped or killed in."""
    if facts.end is EndKind.CALL and facts.end_text:
        text = shorten(f"Not finished: {facts.end_text}", BULLET_CHARS)
        yield Line(text, facts.end_event_id)


# Lines about calls


def describe_run(run: TestRun) -> str:
    """Return the counts of a test run: "38 passed, 2 failed (pytest)"."""
    counts = ((run.passed, "passed"), (run.failed, "failed"))
    text = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    return f"{text} ({run.command})" if run.command else text


def _list_tests(facts: Facts) -> Iterator[DraftBullet]:
    """Yield the run with most tests after the last change, else the last run."""
    if facts.test_runs:
        change = _last_id(facts.files)
        later = [run for run in facts.test_runs if run.event_id > change]
        runs = later or facts.test_runs[-1:]
        run = max(runs, key=lambda run: run.passed + run.failed)
        yield DraftBullet(describe_run(run), (run.event_id,), BulletKind.TESTS)


def _list_files(facts: Facts) -> Iterator[DraftBullet]:
    """Yield the changed files with their added and removed lines, the largest first."""
    sums: dict[str, tuple[int, int]] = {}
    by_ending: dict[str, str] = {}
    for change in facts.files:
        path = _find_path(change.path, by_ending)
        if path not in sums:
            for ending in _list_endings(path):
                by_ending.setdefault(ending, path)
        added, removed = sums.get(path, (0, 0))
        sums[path] = added + change.added, removed + change.removed
    if not sums:
        return
    ranked = sorted(sums, key=lambda path: -sum(sums[path]))
    names = _short_names(ranked)
    parts = [_describe_change(names[path], *sums[path]) for path in ranked[:MAX_FILES]]
    parts += [f"{len(ranked) - MAX_FILES} more"] if len(ranked) > MAX_FILES else []
    ids = dict.fromkeys(change.event_id for change in facts.files)
    text = shorten(", ".join(parts), BULLET_CHARS)
    yield DraftBullet(text, tuple(ids)[:MAX_EVENT_IDS], BulletKind.FILES)


def _find_path(path: str, by_ending: Mapping[str, str]) -> str:
    """Return the absolute path that a relative one is the end of, else the path."""
    if path.startswith("/"):
        return path
    return by_ending.get(path.removeprefix("./"), path)


def _list_endings(path: str) -> Iterator[str]:
    """Yield the relative paths that a path ends with, but no very deep ones."""
    parts = path.split("/")
    for count in range(1, min(len(parts), MAX_DEPTH + 1)):
        yield "/".join(parts[-count:])


def _describe_change(name: str, added: int, removed: int) -> str:
    plus, minus = f" +{added}" if added else "", f" −{removed}" if removed else ""
    return f"{name}{plus}{minus}"


def _short_names(paths: Iterable[str]) -> dict[str, str]:
    """Return the names of files; of those with the same name, with their folder."""
    parts = {path: path.replace("\\", "/").split("/") for path in paths}
    counts = Counter(part[-1] for part in parts.values())
    return {
        path: "/".join(part[-2:]) if counts[part[-1]] > 1 else part[-1]
        for path, part in parts.items()
    }


def list_pull_requests(facts: Facts) -> Iterator[DraftBullet]:
    """Yield a line for each pull request."""
    for request in facts.pull_requests:
        text = shorten(f"#{request.number} {request.title}".strip(), BULLET_CHARS)
        yield DraftBullet(text, (request.event_id,), BulletKind.PULL_REQUEST)


def _list_messages(facts: Facts) -> Iterator[DraftBullet]:
    """Yield what was asked first, and what the agent said last."""
    for request in facts.requests[:1]:
        text = shorten(" ".join(request.text.split()), BULLET_CHARS)
        yield DraftBullet(text, (request.event_id,), BulletKind.ASKED)
    outcome = find_outcome(facts)
    if outcome.text:
        yield DraftBullet(outcome.text, (outcome.event_id,), BulletKind.OUTCOME)


def _list_answers(facts: Facts) -> Iterator[DraftBullet]:
    """Yield a line for each answer of the user, with the question of the agent."""
    for answer in facts.answers:
        beginning = shorten(answer.text, BULLET_CHARS // 2)
        text = shorten(f"{beginning} — {answer.question}", BULLET_CHARS)
        yield DraftBullet(text, (answer.event_id,), BulletKind.DECISION)


def _join_lines(kind: BulletKind, bullets: Sequence[DraftBullet]) -> DraftBullet:
    """Return several bullets of a kind as one, as far as they fit."""
    text, count = "", 0
    for bullet in bullets:
        joined = f"{text}; {bullet.text}" if text else shorten(bullet.text, 160)
        if count and len(joined) > BULLET_CHARS - len("; +99 more"):
            break
        text, count = joined, count + 1
    text += f"; +{len(bullets) - count} more" if count < len(bullets) else ""
    ids = dict.fromkeys(name for bullet in bullets for name in bullet.event_ids)
    return DraftBullet(text, tuple(ids)[:MAX_EVENT_IDS], kind)


def list_commits(commits: Iterable[Commit]) -> Iterator[DraftBullet]:
    """Yield a line for each commit."""
    for commit in commits:
        text = shorten(commit.subject, BULLET_CHARS)
        yield DraftBullet(text, (commit.event_id,), BulletKind.COMMIT)


# Segments and sessions


def summarize_segment(facts: Facts, earlier_request: str = "") -> Summary:
    """Summarize a segment: its title, and a bullet for each kind of line.

    Args:
        facts: What its events show.
        earlier_request: The user's last message before it.
    """
    commits = sorted(facts.commits, key=lambda commit: -commit.lines)
    bullets = list(_list_messages(facts))
    for line in _find_unfinished(facts):
        bullets.append(DraftBullet(line.text, (line.event_id,), BulletKind.LEFT_OPEN))
    for kind, lines in (
        (BulletKind.COMMIT, list(list_commits(commits))),
        (BulletKind.PULL_REQUEST, list(list_pull_requests(facts))),
    ):
        bullets += [_join_lines(kind, lines)] if lines else []
    bullets += [*_list_answers(facts), *_list_tests(facts), *_list_files(facts)]
    return Summary(_title_segment(facts, earlier_request), tuple(bullets))


def _title_segment(facts: Facts, earlier_request: str) -> str:
    if commits := rank_commits(facts):
        return shorten(strip_commit_type(commits[0].subject), TITLE_CHARS)
    if facts.requests and (title := name_request(facts.requests[0].text)):
        return title
    if earlier := name_request("\n".join(plain_lines(earlier_request))):
        return shorten(earlier, TITLE_CHARS - len(CONTINUED)) + CONTINUED
    return _name_by_reply(facts)


def list_session_lines(facts: Facts, work: SessionWork) -> list[DraftBullet]:
    """Return the lines of a session's page."""
    commits = list(list_commits(facts.commits))
    more = len(commits) - MAX_COMMITS
    if more > 0:
        others = commits[MAX_COMMITS:]
        ids = tuple(bullet.event_ids[0] for bullet in others)[:MAX_EVENT_IDS]
        text = f"and {more} more commits" if more > 1 else "and 1 more commit"
        commits = [*commits[:MAX_COMMITS], DraftBullet(text, ids, BulletKind.MORE)]
    return [
        *_list_messages(facts),
        *list(_list_answers(facts))[-MAX_ANSWERS:],
        *(
            DraftBullet(line.text, (line.event_id,), BulletKind.LEFT_OPEN)
            for line in work.left_open
        ),
        *commits,
        *list_pull_requests(facts),
        *_list_tests(facts),
        *_list_files(facts),
        *_list_failed(facts),
    ]


def _list_failed(facts: Facts) -> Iterator[DraftBullet]:
    """Yield the commands that failed: "3 commands: npm test; make"."""
    if failed := facts.failed_commands:
        names = list(dict.fromkeys(line.text for line in failed))
        named = [*names[:MAX_FAILED], *(["…"] if len(names) > MAX_FAILED else [])]
        text = "; ".join(named)
        if len(failed) > 1:
            text = f"{len(failed)} commands: {text}"
        text = shorten(text, BULLET_CHARS)
        ids = tuple(line.event_id for line in failed)[:MAX_EVENT_IDS]
        yield DraftBullet(text, ids, BulletKind.FAILED)
