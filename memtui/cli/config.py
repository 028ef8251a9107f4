"""``config`` and ``tokens``: what needs no store."""

from memtui import settings as settings_module
from memtui.cli import output
from memtui.errors import SettingsError
from memtui.paths import Paths
from memtui.settings import Settings
from memtui.text import vocabulary


def run(action: str, paths: Paths, settings: Settings, *, as_json: bool) -> int:
    """Show the settings, or write a file that explains them."""
    return _init(paths) if action == "init" else _show(settings, as_json=as_json)


def _show(settings: Settings, *, as_json: bool) -> int:
    if as_json:
        output.as_json(
            {
                name: {"value": settings.value(name), "origin": settings.origin(name)}
                for name in settings_module.SETTINGS
            }
        )
        return 0
    output.print_lines(
        f"{name:<26} {settings_module.to_toml(settings.value(name)):<16}"
        f" {settings.origin(name)}"
        for name in settings_module.SETTINGS
    )
    return 0


def _init(paths: Paths) -> int:
    try:
        paths.config.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with paths.config.open("x", encoding="utf-8") as file:
            file.write(settings_module.template())
    except FileExistsError:
        raise SettingsError(
            f"{paths.config} exists already; it was left as it is"
        ) from None
    except OSError as error:
        raise SettingsError(f"{paths.config}: {error.strerror}") from error
    output.print_lines(
        [f"{paths.config} written: every setting is in it, commented out"]
    )
    return 0


def fetch_tokens(paths: Paths) -> int:
    """Fetch the tokeniser's vocabulary."""
    file = vocabulary.fetch_vocabulary(paths.vocabulary)
    output.print_lines([f"{file} is here: tokens of new events are counted by it"])
    return 0
