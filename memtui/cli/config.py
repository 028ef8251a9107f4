"""``config`` and ``tokens``: settings and the vocabulary of exact token counts."""

from argparse import Namespace

from memtui.cli import output
from memtui.cli.command import Context, Parser
from memtui.errors import SettingsError
from memtui.files import PRIVATE
from memtui.paths import PRIVATE_FOLDER


def add_options(parser: Parser, command: str) -> None:
    actions = ("show", "init") if command == "config" else ("fetch",)
    parser.add_argument("action", choices=actions)


def run(args: Namespace, context: Context) -> int:
    if args.command == "tokens":
        return _fetch_vocabulary(args, context)
    if args.action == "init":
        return _write_template(args, context)
    return _print_settings(args, context)


def _print_settings(args: Namespace, context: Context) -> int:
    from memtui.settings import SETTINGS, to_toml

    settings = context.settings
    rows = [(name, settings.value(name), settings.origin(name)) for name in SETTINGS]
    data = {name: {"value": value, "origin": origin} for name, value, origin in rows}
    lines = (
        f"{name:<26} {to_toml(value):<16} {origin}" for name, value, origin in rows
    )
    return output.print_result(args, data, lines)


def _write_template(args: Namespace, context: Context) -> int:
    from memtui import settings

    file = context.paths.config
    try:
        file.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        file.touch(mode=PRIVATE, exist_ok=False)
        file.write_text(settings.template(), encoding="utf-8")
    except FileExistsError:
        raise SettingsError(f"{file} exists already; it is unchanged") from None
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from error
    line = f"{file} written: it has every setting, commented out"
    return output.print_result(args, {"file": file}, [line])


def _fetch_vocabulary(args: Namespace, context: Context) -> int:
    from memtui.text import tokens

    file = tokens.fetch_vocabulary(context.paths.vocabulary)
    line = f"{file} downloaded: the tokens of new events are exact"
    return output.print_result(args, {"file": file}, [line])
