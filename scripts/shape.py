"""Print the size and structure of the package, and the files two everyday tasks need.

    python scripts/shape.py            a table
    python scripts/shape.py --json     the same for programs, with the names

The first part reads the source. The second runs public commands in an empty home, with
a profiler that every Python process of them loads from a ``sitecustomize.py``.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "memtui"

Graph = dict[str, set[str]]
"""The modules that each module imports."""

UNCLEAR_NAMES = {"one", "found", "some", "rest", "wanted", "shown", "known"}
"""Names of locals that do not say what they hold."""

UNCLEAR_OPENINGS = ("What", "Whether", "How", "Who")
"""First words of docstrings that describe a noun instead of saying what is done."""


def main() -> None:
    """Measure the package beside this script and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON with all names")
    parser.add_argument(
        "--no-run", action="store_true", help="read the source only, run no commands"
    )
    options = parser.parse_args()
    figures = measure_source()
    if not options.no_run:
        figures |= measure_search() | measure_hooks()
    print(json.dumps(figures, indent=2) if options.json else table(figures))


def table(figures: dict[str, Any]) -> str:
    """Format the figures as lines; of lists only the length, cycles in full."""
    lines = []
    for name, value in figures.items():
        number = len(value) if isinstance(value, (list, dict)) else value
        lines.append(f"{name.replace('_', ' '):<42}{number:>8}")
        if name == "import_cycles":
            lines += [f"  {', '.join(cycle)}" for cycle in value]
    longest = " → ".join(figures["longest_import_chain"])
    return "\n".join([*lines, "", f"longest import chain: {longest}"])


# The source


def measure_source() -> dict[str, Any]:
    """Measure modules, imports, class names and docstrings."""
    paths = {module_name(p): p for p in sorted((ROOT / PACKAGE).rglob("*.py"))}
    sources = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    trees = {name: ast.parse(source) for name, source in sources.items()}
    lines = {name: source.count("\n") for name, source in sources.items()}
    largest = max(lines, key=lambda name: lines[name])

    is_package = {name: path.name == "__init__.py" for name, path in paths.items()}
    graph = {
        name: set(imports(name, tree, is_package)) - {name}
        for name, tree in trees.items()
    }
    importers: Graph = defaultdict(set)
    for name, imported in graph.items():
        for other in imported:
            importers[other].add(name)
    groups = strongly_connected(graph)

    classes: Graph = defaultdict(set)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(name)
    docstrings = [text for tree in trees.values() for text in docstrings_in(tree)]
    unclear = [
        d for d in docstrings if d.split()[:1] and d.split()[0] in UNCLEAR_OPENINGS
    ]

    return {
        "modules": len(lines),
        "lines": sum(lines.values()),
        "median_lines_per_module": round(median(lines.values())),
        "mean_lines_per_module": round(mean(lines.values())),
        "largest_module_lines": lines[largest],
        "largest_module": largest,
        "longest_import_chain": longest_chain(graph, groups),
        "modules_imported_by_exactly_one_other": sorted(
            name for name, others in importers.items() if len(others) == 1
        ),
        "import_cycles": [sorted(group) for group in groups if len(group) > 1],
        "class_names": len(classes),
        "class_names_in_two_or_more_modules": {
            name: sorted(places)
            for name, places in sorted(classes.items())
            if len(places) > 1
        },
        "docstrings": len(docstrings),
        "docstrings_starting_with_what_whether_how_who": len(unclear),
        "the_same_in_percent": round(100 * len(unclear) / max(1, len(docstrings))),
        "compiled_patterns": sum(s.count("re.compile(") for s in sources.values()),
        "unclear_names_of_locals": sorted(
            f"{name}:{line}"
            for name, tree in trees.items()
            for line in unclear_names_in(tree)
        ),
    }


def module_name(path: Path) -> str:
    """Return the dotted name of a module below the root."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(name: str, tree: ast.Module, is_package: dict[str, bool]) -> Iterator[str]:
    """Yield the project's modules that a module imports when it runs."""
    for node in running(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in is_package)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = node.level - is_package[name]
                package = name.split(".")[: -up or None]
                base = ".".join([*package, *base.split(".")]).rstrip(".")
            for alias in node.names:
                if (module := f"{base}.{alias.name}") in is_package:
                    yield module
                elif base in is_package:
                    yield base


def running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes except those under ``if TYPE_CHECKING``."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from running(other)
        else:
            yield from running(child)


def docstrings_in(tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and its functions."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield text


def unclear_names_in(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that bind a variable or parameter with an unclear name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        else:
            continue
        if name in UNCLEAR_NAMES:
            yield node.lineno


def strongly_connected(graph: Graph) -> list[set[str]]:
    """Return groups of modules that import each other; imported groups come first."""
    order: list[str] = []
    seen: set[str] = set()
    for root in sorted(graph):
        stack = [] if root in seen else [(root, iter(sorted(graph[root])))]
        seen.add(root)
        while stack:
            name, imports = stack[-1]
            following = next((other for other in imports if other not in seen), None)
            if following is None:
                order.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, iter(sorted(graph[following]))))
    importers: Graph = defaultdict(set)
    for name, imported in graph.items():
        for other in imported:
            importers[other].add(name)
    groups: list[set[str]] = []
    grouped: set[str] = set()
    for name in reversed(order):
        if name in grouped:
            continue
        group, waiting = set(), [name]
        while waiting:
            module = waiting.pop()
            if module not in grouped:
                grouped.add(module)
                group.add(module)
                waiting += importers[module]
        groups.append(group)
    return groups[::-1]


def longest_chain(graph: Graph, groups: list[set[str]]) -> list[str]:
    """Return the modules on the longest path, all those of a cycle included."""
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    chains: dict[int, list[str]] = {}
    for number, group in enumerate(groups):
        below = {group_of[other] for name in group for other in graph[name]} - {number}
        longest = max((chains[other] for other in sorted(below)), key=len, default=[])
        chains[number] = [*sorted(group), *longest]
    return max(chains.values(), key=len, default=[])


# The commands

TRACER = """
import os, sys, threading

_folder, _root = os.environ["SHAPE_TRACES"], os.environ["SHAPE_ROOT"]
_called = set()
_exit = os._exit


def _profile(frame, event, argument):
    if event == "call":
        code = frame.f_code
        # A module or the body of a class is no function: its code is not optimised.
        if code.co_flags & 1 and (code.co_name[0] != "<" or code.co_name == "<lambda>"):
            _called.add(code.co_filename)


def _write():
    sys.setprofile(None)
    threading.setprofile(None)
    # A module that waits to be used first has another type, and has not run.
    modules = [m for m in list(sys.modules.values()) if type(m) is type(sys)]
    loaded = {getattr(m, "__file__", None) or "" for m in modules}
    with open(os.path.join(_folder, str(os.getpid())), "w") as file:
        for kind, names in (("loaded", loaded), ("called", _called)):
            for name in names:
                if name.startswith(_root) and name.endswith(".py"):
                    file.write(f"{kind} {name[len(_root):]}\\n")


def _write_and_exit(code):
    _write()
    _exit(code)


os._exit = _write_and_exit
import atexit
atexit.register(_write)
threading.setprofile(_profile)
sys.setprofile(_profile)
"""

EVENTS: tuple[dict[str, Any], ...] = (
    {
        "hook_event_name": "UserPromptSubmit",
        "prompt": "The ferry timetable shows the crossing after midnight twice. Why?",
    },
    {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest tests/test_timetable.py"},
        "tool_response": {"stdout": "1 failed: test_after_midnight"},
    },
    {
        "hook_event_name": "Stop",
        "last_assistant_message": "Fixed: the timetable compares departure times as"
        " text, so that 00:15 sorts before 23:50. It compares dates now.",
    },
    {"hook_event_name": "SessionEnd", "reason": "logout"},
)
SESSION = {"session_id": "ferry-1", "cwd": "/home/ada/ferry"}
QUERY = "crossing"


class Commands:
    """Run commands in a new home and collect the files that they use."""

    def __init__(self, folder: Path) -> None:
        """Take an empty folder."""
        self._home, self._traces = folder / "home", folder / "traces"
        self._site, person = folder / "site", folder / "person"
        for made in (self._traces, self._site, person):
            made.mkdir()
        (self._site / "sitecustomize.py").write_text(TRACER, encoding="utf-8")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("MEMTUI_")}
        self._environment = kept | {
            "HOME": str(person),
            "PYTHONPATH": os.pathsep.join([str(self._site), str(ROOT)]),
            "SHAPE_TRACES": str(self._traces),
            "SHAPE_ROOT": f"{ROOT / PACKAGE}{os.sep}",
            "MEMTUI_HOME": str(self._home),
            "MEMTUI_SUMMARIES__PROVIDER": "extractive",
        }

    def memtui(self, *arguments: str, given: object = None) -> str:
        """Run one command and return its output."""
        words = ["-m", "memtui", "--home", str(self._home), *arguments]
        return self._run(*words, given=given)

    def hook(self, event: dict[str, Any]) -> None:
        """Pass one event to the hook, as an agent does."""
        self._run(str(ROOT / "scripts" / "memtui-hook"), given=event)

    def _run(self, *words: str, given: object) -> str:
        done = subprocess.run(
            [sys.executable, *words],
            input="" if given is None else json.dumps(given),
            env=self._environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if done.returncode:
            sys.exit(f"{' '.join(words)} failed: {done.stderr.strip()}")
        return done.stdout

    def forget_traces(self) -> None:
        """Drop what was collected so far."""
        for file in self._traces.iterdir():
            file.unlink()

    def files(self, kind: str) -> list[str]:
        """Return the files that were "loaded" or "called" in any process."""
        lines = [
            line.split(" ", 1)
            for file in self._traces.iterdir()
            for line in file.read_text(encoding="utf-8").splitlines()
        ]
        return sorted({name for line_kind, name in lines if line_kind == kind})


def measure_search() -> dict[str, Any]:
    """Measure a search in a small memory."""
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(Path(folder))
        fill(commands)
        commands.forget_traces()
        assert QUERY in commands.memtui("search", QUERY, "--json")
        return {
            "files_loaded_by_search": commands.files("loaded"),
            "files_called_by_search": commands.files("called"),
        }


def measure_hooks() -> dict[str, Any]:
    """Measure the way of four hook events to a hit."""
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(Path(folder))
        fill(commands)
        hits = commands.memtui("call", "teleport", f"query={QUERY}", "--json")
        assert QUERY in hits.replace(f'"query": "{QUERY}"', ""), hits
        return {
            "files_loaded_from_hook_to_hit": commands.files("loaded"),
            "files_called_from_hook_to_hit": commands.files("called"),
        }


def fill(commands: Commands) -> None:
    """Make a memory of the events."""
    for event in EVENTS:
        commands.hook(SESSION | event)
    commands.memtui("work", "--until-idle")


if __name__ == "__main__":
    main()
