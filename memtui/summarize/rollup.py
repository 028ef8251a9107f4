"""Summarize a day, week, month or year from its children.

A day lists its pieces of work: one per session, by name, outcome and state. A longer
period lists its projects, each with its counts and its most important pieces of work.
Nothing is reworded, so that each line keeps the grips of the lines below.

The work of a session on a day has parts. A commit ends a part, which is the work since
the commit before it. Work that is not committed is divided by requests. Parts with
similar names are one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from memtui.model.calendar import TocLevel
from memtui.model.events import clean
from memtui.model.nodes import (
    BULLET_CHARS,
    BULLET_COUNTS,
    HEADLINE_CHARS,
    NO_TOTALS,
    TITLE_CHARS,
    Bullet,
    BulletKind,
    DraftBullet,
    ProjectTotals,
    Summary,
    TocNode,
)
from memtui.model.quantities import plural
from memtui.model.sessions import WorkState
from memtui.model.verdicts import Support, Verdict, VerdictFeatures, worst
from memtui.summarize import session_work
from memtui.text import analyzer, orders, prose, stopwords, titles
from memtui.text.titles import MIN_CONTENT_WORDS, MIN_REQUEST_WORDS

IDENTITY = "extractive-12"
"""The name and version of the rules of extracts. Raise the version if a rule changes,
so that stored nodes are rolled up again."""

MAX_PROJECTS = 6
"""The maximum number of projects of a period."""

MIN_WORKS, MAX_WORKS = 3, 7
"""The number of pieces of work of a project in a period, if it has so many."""

PROJECT_SHARE = 0.1
"""Above a day, a headline names the work on a project with at least this share of the
effort on the largest."""

STATE_EFFORT, LATER_EFFORT = 10.0, 10.0
"""The effort of work that was pushed or merged, and of work that later work refers to,
in messages."""

SAME_NAME = 0.6
"""The share of its terms that a name has in common with a similar one."""

MAX_OVERLAP = 0.7
"""An outcome that shares more of its terms with the name of the work is left out."""

OUTCOME_SEPARATOR = " — "
"""Between the name and the outcome of a piece of work."""

_STATE = re.compile(rf" \((?:{'|'.join(WorkState)})\)$")

MIN_OUTCOME_CHARS = 30
"""An outcome that would be cut shorter than this is left out."""


@dataclass(slots=True)
class _Work:
    """A piece of work, collected from several nodes."""

    project: str
    session_id: str
    names: list[str]
    """The names of its parts, the largest first."""
    outcome: str
    ending: str
    """Its state in parentheses, or ""."""
    effort: float = 0.0
    refs: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The names of its parts, as far as they fit into a headline."""
        names, room = self.names[:1], HEADLINE_CHARS - len(self.names[0])
        for name in self.names[1:]:
            room -= len(SEPARATOR) + len(name)
            if room >= 0:
                names.append(name)
        return SEPARATOR.join(names)

    def describe(self, limit: int) -> str:
        """Return its name, and its outcome if that says more and has room."""
        room = limit - len(self.name) - len(OUTCOME_SEPARATOR)
        terms = set(analyzer.query_terms(self.outcome)) - stopwords.VAGUE_STEMS
        known = set(analyzer.query_terms(self.name))
        says_again = self.outcome.startswith(self.names[-1].rstrip("…"))
        says_again = says_again or len(terms & known) >= MAX_OVERLAP * len(terms)
        if not self.outcome or says_again or room < MIN_OUTCOME_CHARS:
            return self.name
        outcome = prose.shorten_to_sentences(self.outcome, room)
        return f"{self.name}{OUTCOME_SEPARATOR}{outcome}"


def summarize_children(
    level: TocLevel,
    children: Sequence[TocNode],
    totals: Mapping[str, ProjectTotals] = NO_TOTALS,
) -> Summary:
    """Summarize a node from its children.

    Args:
        level: The node's level.
        children: Its children, oldest first.
        totals: The work on each project in the node's period.

    Returns:
        A headline and bullets; ``refs`` are indexes into all children's bullets in a
        row.
    """
    if level is TocLevel.DAY:
        works = _works_of_segments(children)
        bullets = _day_bullets(works)
    else:
        works = _works_of_periods(children)
        if level in (TocLevel.MONTH, TocLevel.YEAR):
            works = [replace(one, outcome="") for one in works]
        bullets = _project_bullets(level, works, totals)
    return Summary(_headline(level, works), tuple(bullets))


def _works_of_segments(segments: Sequence[TocNode]) -> list[_Work]:
    """Collect the pieces of work of segments: one for each session."""
    groups: dict[str, list[tuple[int, TocNode]]] = {}
    place = 0
    for segment in segments:
        session = segment.bullets[0].session_id if segment.bullets else ""
        groups.setdefault(session or segment.node_id, []).append((place, segment))
        place += len(segment.bullets)
    return [_work_of_session(group) for group in groups.values()]


def _work_of_session(segments: Sequence[tuple[int, TocNode]]) -> _Work:
    """Describe the work of a session on a day by its segments.

    Args:
        segments: Each with the index of its first bullet among the day's.
    """
    nodes = [segment for _, segment in segments]
    rows = [
        (at, bullet)
        for place, segment in segments
        for at, bullet in enumerate(segment.bullets, place)
    ]
    states = [row for row in rows if row[1].kind is BulletKind.STATE]
    parts = name_parts(nodes)
    outcome = session_work.find_outcome(nodes)
    best = [row for row in rows if row[1] is outcome]
    is_question = parts[0].endswith("?")
    if not best or (is_question and best[-1][1].kind is BulletKind.COMMIT):
        best = [row for row in rows if row[1].kind is BulletKind.DECISION] or best
    last = session_work.find_last_state([bullet.text for _, bullet in states])
    state = states[last][1].text if states else ""
    return _Work(
        nodes[0].projects[0] if nodes[0].projects else "",
        nodes[0].bullets[0].session_id if nodes[0].bullets else "",
        parts,
        session_work.strip_commit_type(best[-1][1].text) if best else "",
        f" ({state})" if state not in ("", WorkState.ANSWERED) else "",
        _weigh(sum(map(session_work.measure_effort, nodes)), state),
        [at for at, _ in (*(best or rows)[-1:], *states[-1:])],
    )


def _weigh(effort: float, state: str) -> float:
    """Return the effort of work, more if it was published, less if it was given up."""
    if state in (WorkState.PUSHED, WorkState.MERGED):
        return effort + STATE_EFFORT
    return effort / 2 if state == WorkState.ABANDONED else effort


def _day_bullets(works: Sequence[_Work]) -> Iterator[DraftBullet]:
    most = BULLET_COUNTS[TocLevel.DAY][1]
    largest = sorted(works, key=lambda one: -one.effort)[:most]
    has_several_projects = len({one.project for one in works}) > 1
    for work in works:
        if work in largest:
            yield _work_bullet(work, with_project=has_several_projects)


def _work_bullet(work: _Work, *, with_project: bool) -> DraftBullet:
    """Return the bullet of a piece of work, on request with its project before it.

    Below a bullet of its project, it does not repeat the name.
    """
    prefix = f"{work.project}: " if with_project and work.project else ""
    room = BULLET_CHARS - len(prefix) - len(work.ending)
    return DraftBullet(
        f"{prefix}{work.describe(room)}{work.ending}",
        tuple(work.refs),
        BulletKind.WORK,
        work.project,
        work.session_id,
        work.effort,
    )


def _works_of_periods(children: Sequence[TocNode]) -> list[_Work]:
    """Collect the pieces of work of days or longer periods; the latest outcome counts.

    Sessions with the same name are one piece of work. Those whose name says nothing are
    left out if there is other work on the project.
    """
    works: dict[tuple[str, str], _Work] = {}
    keys: dict[str, tuple[str, str]] = {}
    largest: dict[tuple[str, str], float] = {}
    bullets = (bullet for child in children for bullet in child.bullets)
    for at, bullet in enumerate(bullets):
        if bullet.kind is not BulletKind.WORK:
            continue
        names, outcome, ending = _split_line(bullet)
        key = keys.setdefault(bullet.session_id or str(at), (bullet.project, names[0]))
        work = works.setdefault(key, _Work(bullet.project, "", names, "", ""))
        if bullet.effort > largest.get(key, -1.0):
            largest[key] = bullet.effort
            names, work.names = work.names, names
        work.names = list(dict.fromkeys([*work.names, *names]))
        work.session_id, work.outcome, work.ending = bullet.session_id, outcome, ending
        work.effort += bullet.effort
        work.refs = [*work.refs, at][-3:]
    found = list(works.values())
    _add_later_references(found)
    empty = [one for one in found if session_work.is_empty(one.names[0])]
    named = {one.project for one in found if one not in empty}
    return [one for one in found if one not in empty or one.project not in named]


def _split_line(bullet: Bullet) -> tuple[list[str], str, str]:
    """Return the names, the outcome and the state of a piece of work."""
    line = bullet.text.removeprefix(f"{bullet.project}: ")
    state = _STATE.search(line)
    ending = state[0] if state else ""
    name, _, outcome = line.removesuffix(ending).partition(OUTCOME_SEPARATOR)
    return name.split(SEPARATOR), outcome, ending


def _add_later_references(works: Sequence[_Work]) -> None:
    """Raise the effort of work that later work on the project refers to by its name."""
    terms = [set(analyzer.query_terms(work.name)) for work in works]
    for at, work in enumerate(works):
        for later, other in enumerate(works[at + 1 :], at + 1):
            shared = len(terms[at] & terms[later])
            is_similar = shared and shared >= SAME_NAME * len(terms[at])
            if is_similar and other.project == work.project:
                work.effort += LATER_EFFORT
                break


def _project_bullets(
    level: TocLevel, works: Sequence[_Work], totals: Mapping[str, ProjectTotals]
) -> Iterator[DraftBullet]:
    """Yield each project with its most important pieces of work, largest first."""
    efforts: dict[str, float] = {}
    for work in works:
        efforts[work.project] = efforts.get(work.project, 0.0) + work.effort
    projects = sorted(efforts, key=lambda one: -efforts[one])[:MAX_PROJECTS]
    shown = _share_out(projects, works, BULLET_COUNTS[level][1])
    for project in projects:
        mine = [one for one in works if one.project == project and id(one) in shown]
        refs = tuple(ref for one in mine for ref in one.refs)[:3]
        counts = _count_words(totals.get(project))
        if counts:
            yield DraftBullet(counts, refs, BulletKind.PROJECT, project, "", 0.0)
        for one in mine:
            yield _work_bullet(one, with_project=len(efforts) > 1 and not counts)


def _rank(works: Sequence[_Work]) -> list[_Work]:
    """Return the works that a name describes first, the largest of them first."""
    return sorted(
        works, key=lambda one: (not session_work.names_work(one.names[0]), -one.effort)
    )


def _share_out(projects: Sequence[str], works: Sequence[_Work], room: int) -> set[int]:
    """Choose the largest works: some of each project, then the largest of the rest."""
    largest: dict[str, float] = {}
    for work in works:
        largest[work.project] = max(work.effort, largest.get(work.project, 0.0))
    main = [one for one in works if one.effort >= WORK_SHARE * largest[one.project]]
    ranked = _rank(main)
    chosen: list[_Work] = []
    for project in projects:
        chosen += [one for one in ranked if one.project == project][:MIN_WORKS]
    for work in ranked:
        mine = sum(one.project == work.project for one in chosen)
        is_new = work.project in projects and work not in chosen
        if len(chosen) < room and is_new and mine < MAX_WORKS:
            chosen.append(work)
    return {id(one) for one in chosen}


def _count_words(totals: ProjectTotals | None) -> str:
    if totals is None:
        return ""
    sessions = plural(totals.sessions, "session")
    days = f" on {totals.days} days" if totals.days > 1 else ""
    commits = f", {plural(totals.commits, 'commit')}" if totals.commits else ""
    return f"{sessions}{days}{commits}"


def _headline(level: TocLevel, works: Sequence[_Work]) -> str:
    """Name the main work, and its projects unless all the work of a day is on one.

    If a day has one piece of work, the outcome is added where the request is no order:
    a question, or a description of a problem.
    """
    is_day = level is TocLevel.DAY
    has_one = is_day and len({one.project for one in works}) < 2
    text = compose_headline(
        [
            NamedWork("" if has_one else one.project, one.names, one.effort)
            for one in _rank(works)
        ],
        WORK_SHARE if is_day else PROJECT_SHARE,
    )
    only = next((one for one in works if is_day and one.names == [text]), None)
    if only is None or orders.is_order(text):
        return text
    return only.describe(HEADLINE_CHARS)


# The parts of a session

SAME_SHARE = 0.5
"""Two parts are similar if they have this share of their words or files in common."""

MAIN_SHARE = 0.5
"""Of similar parts the first is named that has this share of the effort of the largest;
likewise of the requests of a part."""

NAMED_SHARE = 0.15
"""A part with a smaller share of the effort of the largest is not named."""


_NUMBER = re.compile(r"\d+")

NAMED_FILES = 2
"""A part without a request is named by at most this many of its files, too."""


@dataclass(slots=True, eq=False)
class _WorkPart:
    """A part of a session's work."""

    name: str
    effort: float
    terms: set[str]
    """The content words of the name."""
    files: set[str]
    """The names of the files that it changes."""

    def has_name_like(self, other: "_WorkPart") -> bool:
        """Return whether the names share words, and do not differ in their numbers."""
        own, others = (set(_NUMBER.findall(one.name)) for one in (self, other))
        has_other_number = own and others and own.isdisjoint(others)
        return not has_other_number and _overlap(self.terms, other.terms)

    def is_near(self, other: "_WorkPart") -> bool:
        """Return whether both are the same, or change the same files."""
        return self is other or _overlap(self.files, other.files)


def name_parts(segments: Sequence[TocNode]) -> list[str]:
    """Return the names of the large parts of a session's work, the main one first.

    One part of each group that changes the same files comes before the others, so that
    the first names say most of the session.

    Args:
        segments: The segments, oldest first; at least one.
    """
    parts = left = _find_parts(segments)
    near = {one: [*filter(one.is_near, parts)] for one in parts}
    groups: list[list[_WorkPart]] = []
    while left:
        found = ([other for other in near[one] if other in left] for one in left)
        groups.append(max(found, key=_total_effort))
        left = [one for one in left if one not in groups[-1]]
    least = NAMED_SHARE * _total_effort(groups[0])
    ranked = [_first_large(group) for group in groups if _total_effort(group) >= least]
    least = NAMED_SHARE * max(one.effort for one in parts)
    large = [one for one in parts if one.effort >= least]
    ranked += sorted(large, key=lambda one: -one.effort)
    names = list(dict.fromkeys(one.name for one in ranked))
    return [*filter(session_work.names_work, names)] or names[:1]


def _total_effort(parts: Sequence[_WorkPart]) -> float:
    return sum(one.effort for one in parts)


def _first_large(parts: Sequence[_WorkPart]) -> _WorkPart:
    least = MAIN_SHARE * max(one.effort for one in parts)
    return next(one for one in parts if one.effort >= least)


def _overlap(one: set[str], other: set[str]) -> bool:
    least = SAME_SHARE * min(len(one), len(other))
    return least > 0 and len(one & other) >= least


def _find_parts(segments: Sequence[TocNode]) -> list[_WorkPart]:
    """Return the parts of a session in order, those with similar names as one."""
    parts: list[_WorkPart] = []
    for part_segments in _divide_at_commits(segments):
        name = _name_part(part_segments)
        part = _WorkPart(
            name,
            sum(map(session_work.measure_effort, part_segments)),
            _content_terms(name),
            {name for segment in part_segments for name in _list_files(segment)},
        )
        same = [*filter(part.has_name_like, parts)]
        if not same and _goes_on(part_segments):
            same = parts
        if same:
            same[-1].effort += part.effort
            same[-1].files |= part.files
        else:
            parts.append(part)
    return parts


def _divide_at_commits(segments: Sequence[TocNode]) -> Iterator[Sequence[TocNode]]:
    """Yield the segments up to each commit, then those of each further request."""
    start = 0
    for end, segment in enumerate(segments, 1):
        if _select_bullets(BulletKind.COMMIT, [segment]):
            yield segments[start:end]
            start = end
    yield from _group_by_request(segments[start:]).values()


def _goes_on(segments: Sequence[TocNode]) -> bool:
    """Return whether segments go on with an earlier request, and commit nothing."""
    title = segments[0].headline
    is_new = not title.endswith(session_work.CONTINUED)
    has_commit = bool(_select_bullets(BulletKind.COMMIT, segments))
    return not has_commit and not (is_new and session_work.names_work(title))


def _group_by_request(segments: Sequence[TocNode]) -> dict[str, list[TocNode]]:
    """Return the segments of each request, by its title."""
    groups: dict[str, list[TocNode]] = {}
    last = ""
    for segment in segments:
        title = segment.headline.removesuffix(session_work.CONTINUED)
        if last and title not in groups and not session_work.names_work(title):
            title = last
        groups.setdefault(title, []).append(segment)
        last = title
    return groups


def _select_bullets(kind: BulletKind, segments: Sequence[TocNode]) -> list[Bullet]:
    return [one for segment in segments for one in segment.bullets if one.kind is kind]


def _list_files(segment: TocNode) -> Iterator[str]:
    for bullet in _select_bullets(BulletKind.FILES, [segment]):
        for change in bullet.text.split(", "):
            name = change.partition(" +")[0].partition(" −")[0]
            if not name.endswith(" more"):
                yield name


def _name_part(segments: Sequence[TocNode]) -> str:
    """Name a part by its main request, its first commit or its outcome.

    A commit says what was done if the request does not: if it is a question or a
    remark, or if the work went another way.
    """
    groups = _group_by_request(segments)
    efforts = {
        title: sum(map(session_work.measure_effort, found))
        for title, found in groups.items()
    }
    least = MAIN_SHARE * max(efforts.values())
    title = next(one for one, effort in efforts.items() if effort >= least)
    commits = [
        titles.tidy_title(one.text)
        for one in _select_bullets(BulletKind.COMMIT, segments)
    ]
    counts = {one: analyzer.count_content_words(one) for one in (title, *commits)}
    subject = next((one for one in commits if counts[one] >= MIN_CONTENT_WORDS), "")
    outcomes = _select_bullets(BulletKind.OUTCOME, segments)
    if subject and title not in commits:
        is_main = efforts[title] >= MAIN_SHARE * sum(efforts.values())
        is_done = (is_main and orders.is_order(title)) or bool(
            _content_terms(title) & _content_terms(subject)
        )
        says_less = counts[title] < min(counts[subject], MIN_REQUEST_WORDS)
        if (
            title.endswith(("?", "？"))
            or not session_work.names_work(title)
            or orders.has_vague_subject(title)
            or says_less
            or (not is_done and counts[subject] >= MIN_REQUEST_WORDS)
        ):
            title = subject
    elif not subject and session_work.is_action_line(title) and outcomes:
        files = [name for segment in segments for name in _list_files(segment)]
        title = titles.tidy_title(outcomes[-1].text)
        if files:
            title += f" ({', '.join(dict.fromkeys(files[:NAMED_FILES]))})"
    return title.replace(" — ", ": ").replace("; ", ", ")


def _content_terms(text: str) -> set[str]:
    return set(analyzer.query_terms(text)) - stopwords.VAGUE_STEMS


# Headlines

SEPARATOR = "; "
"""Between the names of pieces of work."""

MIN_NAME_CHARS = 40
"""A name is not cut shorter than this to make room for another one."""

LIST_CHARS = 40
"""The room that is left to the names of projects whose work is not named."""

WORK_SHARE = 0.05
"""Work with a smaller share of the effort of the project's largest is not named."""


class NamedWork(NamedTuple):
    """A piece of work by the names of its parts, the largest first."""

    project: str
    names: Sequence[str]
    effort: float


def compose_headline(works: Sequence[NamedWork], project_share: float) -> str:
    """Name the main work of each large project, then further work as far as it fits.

    Args:
        works: The best first.
        project_share: The share of the effort of the largest project that a large one
            has at least.
    """
    efforts: dict[str, float] = {}
    for work in works:
        efforts[work.project] = efforts.get(work.project, 0.0) + work.effort
    projects = sorted(efforts, key=lambda one: -efforts[one])
    named = _choose_named(works)
    main = {one.project: one.names[0] for one in reversed(named)}
    ranked = [one for one in projects if one in main]
    least = project_share * max((efforts[one] for one in ranked), default=0.0)
    headline = _Headline(projects)
    headline.add_main({one: main[one] for one in ranked if efforts[one] >= least})
    headline.add_further(
        [
            *((one.project, one.names[0]) for one in named),
            *((one.project, name) for one in named for name in one.names[1:]),
        ]
    )
    headline.add_small([(one, main[one]) for one in ranked])
    return str(headline)


def _choose_named(works: Sequence[NamedWork]) -> list[NamedWork]:
    """Return works of different names that say something, without small ones."""
    distinct = [*{one.names[0]: one for one in reversed(works)}.values()][::-1]
    informative = [one for one in distinct if _says_enough(one.names[0])] or distinct[
        :1
    ]
    largest = {one.project: one.effort for one in reversed(informative)}
    return [
        one for one in informative if one.effort >= WORK_SHARE * largest[one.project]
    ]


def _says_enough(name: str) -> bool:
    return titles.is_informative(name) and not session_work.is_action_line(name)


@dataclass(slots=True)
class _Headline:
    """The names of work on each project, while they are chosen."""

    projects: Sequence[str]
    """The largest first."""
    names: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the names, and as many of the other projects as fit."""
        text = _join_names(self.names)
        others = self._others(self.names)
        for more in range(len(others)):
            if len(text + (listed := _list_projects(others, more))) <= HEADLINE_CHARS:
                return text + listed
        count = f"{SEPARATOR}{plural(len(others), 'more project')}" if others else ""
        return text + count

    def add_main(self, names: Mapping[str, str]) -> None:
        """Add a name for each of the first projects, the longest ones cut if needed."""
        for count in range(len(names), 0, -1):
            chosen = dict([*names.items()][:count])
            cut = {one: [name[:MIN_NAME_CHARS]] for one, name in chosen.items()}
            if self._room(cut) >= 0 or count == 1:
                room = self._room({one: [""] for one in chosen})
                limit = _longest_cut(room, [*map(len, chosen.values())])
                self.names = {
                    one: [titles.shorten_title(name, limit)]
                    for one, name in chosen.items()
                }
                return

    def add_further(self, names: Sequence[tuple[str, str]]) -> None:
        """Add names for the same projects, the last one cut if needed."""
        for project, name in names:
            mine = self.names.get(project, [])
            if mine and not any(name.startswith(one.rstrip("…")) for one in mine):
                room = self._room(self.names) - len(SEPARATOR)
                if room < min(len(name), MIN_NAME_CHARS):
                    return
                mine.append(titles.shorten_title(name, room))

    def add_small(self, names: Sequence[tuple[str, str]]) -> None:
        """Add names for further projects as long as there is room."""
        for project, name in names:
            more = {**self.names, project: [name]}
            if project not in self.names:
                if self._room(more) < 0:
                    return
                self.names = more

    def _room(self, names: Mapping[str, Sequence[str]]) -> int:
        """Return the room beside some names and a list of other projects."""
        listed = _list_projects(self._others(names), 0)
        return HEADLINE_CHARS - len(_join_names(names)) - min(LIST_CHARS, len(listed))

    def _others(self, names: Mapping[str, Sequence[str]]) -> list[str]:
        return [one for one in self.projects if one and one not in names]


def _longest_cut(room: int, lengths: Sequence[int]) -> int:
    """Return the length to which the longest texts are cut so that all fit."""
    for count, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - count)
        if length > share:
            return max(share, 1)
        room -= length
    return max(lengths)


def _join_names(names: Mapping[str, Sequence[str]]) -> str:
    """Join the names of each project after its own; those without a project first."""
    return SEPARATOR.join(
        f"{project}: {SEPARATOR.join(names[project])}"
        if project
        else SEPARATOR.join(names[project])
        for project in sorted(names, key=bool)
    )


def _list_projects(projects: Sequence[str], more: int) -> str:
    """Name all but the last of some projects, and say how many more there are."""
    if not projects:
        return ""
    count = f" and {more} more" if more else ""
    return f"{SEPARATOR}also {', '.join(projects[: len(projects) - more])}{count}"


# The bullets of a draft


def sanitize_draft(draft: Summary, title_chars: int = TITLE_CHARS) -> Summary:
    """Return a draft without control characters, line ends, empty or long bullets."""
    bullets = tuple(
        replace(bullet, text=text)
        for bullet in draft.bullets
        if (text := _shorten_line(bullet.text, BULLET_CHARS))
    )
    keywords = (_shorten_line(word, TITLE_CHARS) for word in draft.keywords)
    return replace(
        draft,
        title=_shorten_line(draft.title, title_chars) or "Untitled",
        bullets=bullets,
        keywords=tuple(dict.fromkeys(word for word in keywords if word)),
    )


def _shorten_line(text: str, limit: int) -> str:
    return prose.shorten_to_sentences(" ".join(clean(text).split()), limit)


def join_bullets(draft: Summary, row: Sequence[Bullet]) -> tuple[Bullet, ...]:
    """Return bullets that are composed of children's, with the grips of all of these.

    Args:
        draft: The draft; ``refs`` are indexes into ``row``.
        row: All children's bullets, in order.
    """
    bullets = []
    for claim in draft.bullets:
        below = [row[at] for at in claim.refs if 0 <= at < len(row)]
        grip_ids = dict.fromkeys(name for one in below for name in one.grip_ids)
        support = worst([one.support for one in below]) if below else Support.SUPPORTED
        features = VerdictFeatures(1.0)
        spans = tuple(dict.fromkeys(s for one in below for s in one.verdict.spans))
        matched = tuple(sorted(set(analyzer.query_terms(claim.text))))
        verdict = Verdict(support, features, matched, spans=spans)
        bullets.append(create_bullet(claim, tuple(grip_ids), verdict))
    return tuple(bullets)


def create_bullet(
    claim: DraftBullet, grip_ids: tuple[str, ...], verdict: Verdict
) -> Bullet:
    return Bullet(
        claim.text,
        grip_ids,
        verdict,
        claim.kind,
        claim.project,
        claim.session_id,
        claim.effort,
    )
