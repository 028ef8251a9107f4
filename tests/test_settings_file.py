"""Changing a setting in its file, which otherwise stays as it is."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from memtui import settings, settings_file
from memtui.errors import SettingsError
from memtui.settings_file import SettingsEditor

OWN = """# My own words.
[segments]
max_gap_min = 45   # long walks
overlap_min=1

[capture]
exclude = [
  "secret-*",  # a client's
  "/srv/attic",
]

[log]
level = 'debug'
"""


def editor_of(
    file: Path, *, config_file: Path | None = None, assignments: Sequence[str] = ()
) -> SettingsEditor:
    def load() -> settings.Settings:
        return settings.load(file, config_file=config_file, assignments=assignments)

    return SettingsEditor(load, load(), file, config_file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "config.toml"


@pytest.fixture
def own(file: Path) -> Path:
    file.parent.mkdir()
    file.write_text(OWN)
    return file


def test_first_change_creates_a_private_file(file: Path) -> None:
    entry = editor_of(file).change("segments.max_gap_min", "45")
    assert file.read_text() == "[segments]\nmax_gap_min = 45.0\n"
    assert (entry.text, entry.origin) == ("45.0", f"{file}:2")
    assert (entry.default, entry.running, entry.is_set) == ("30.0", "30.0", True)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "text", "before", "after"),
    [
        ("segments.max_gap_min", "20", "45   # long walks", "20.0   # long walks"),
        ("segments.overlap_min", "2", "overlap_min=1", "overlap_min=2.0"),
        ("log.level", "error", "level = 'debug'", 'level = "error"'),
        (
            "capture.exclude",
            "attic, b#c",
            OWN[OWN.index("exclude") : OWN.index("]\n\n[log]") + 1],
            'exclude = ["attic", "b#c"]',
        ),
        (
            "segments.max_tokens",
            "3000",
            "overlap_min=1\n",
            "overlap_min=1\nmax_tokens = 3000\n",
        ),
        (
            "screen.theme",
            "memtui-paper",
            "'debug'\n",
            "'debug'\n\n[screen]\ntheme = \"memtui-paper\"\n",
        ),
    ],
)
def test_change_leaves_the_rest_of_the_file(
    own: Path, name: str, text: str, before: str, after: str
) -> None:
    editor_of(own).change(name, text)
    assert own.read_text() == OWN.replace(before, after)


def test_value_is_set_where_the_template_explains_it(file: Path) -> None:
    file.parent.mkdir()
    file.write_text(settings.template())
    editor_of(file).change("jobs.day", "30 2 * * *")
    editor_of(file).change("capture.folders", "/srv/one, ~/two")
    before = settings.template().splitlines()
    new = [line for line in file.read_text().splitlines() if line not in before]
    assert new == ['folders = ["/srv/one", "~/two"]', 'day = "30 2 * * *"']
    assert len(file.read_text().splitlines()) == len(before)


def test_line_ends_and_links_are_kept(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(b"[log]\r\nlevel = 'info'\r\n")
    real.chmod(0o640)
    file.parent.mkdir()
    file.symlink_to(real)
    editor_of(file).change("log.level", "debug")
    assert file.is_symlink()
    assert real.read_bytes() == b'[log]\r\nlevel = "debug"\r\n'
    assert real.stat().st_mode & 0o777 == 0o640


def test_link_to_itself_is_an_error(file: Path) -> None:
    file.parent.mkdir()
    file.symlink_to(file.name)
    with pytest.raises(SettingsError, match="leads to itself"):
        settings_file.write(file, settings.SETTINGS["log.level"], "debug")
    assert file.is_symlink()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "segments.max_gap_min",
            "soon",
            "max_gap_min is a number from 0.01, not 'soon'",
        ),
        ("segments.max_tokens", "0", "max_tokens is a whole number from 1"),
        ("log.level", "infos", "did you mean info?"),
        ("jobs.day", "0 25 * * *", "that is no hour"),
    ],
)
def test_invalid_value_leaves_the_file_unchanged(
    own: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        editor_of(own).change(name, text)
    assert own.read_text() == OWN


@pytest.mark.parametrize("written", ["log = {level = %s}\n", "log.level = %s\n"])
def test_inline_tables_and_dotted_keys_are_changed_in_place(
    own: Path, written: str
) -> None:
    own.write_text(written % "'debug'")
    editor_of(own).change("log.level", "info")
    assert own.read_text() == written % '"info"'


def test_invalid_file_is_named_and_not_written(own: Path) -> None:
    editor = editor_of(own)
    own.write_text(broken := OWN + "[log\n")
    sheet = editor.read()
    assert str(own) in sheet.problem and "line 14" in sheet.problem
    assert {e.setting.name: e.text for e in sheet.entries}["log.level"] == "debug"
    with pytest.raises(SettingsError, match="line 14"):
        editor.change("log.level", "info")
    with pytest.raises(SettingsError, match="line 14"):
        settings_file.write(own, settings.SETTINGS["log.level"], "info")
    assert own.read_text() == broken


def test_overridden_setting_cannot_be_changed(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_LOG__LEVEL", "error")
    editor = editor_of(own, assignments=["segments.max_gap_min=3"])
    fixed = {
        e.setting.name: e.locked_reason
        for e in editor.read().entries
        if e.locked_reason
    }
    assert fixed.keys() == {"log.level", "segments.max_gap_min"}
    assert fixed["log.level"].startswith("MEMTUI_LOG__LEVEL in the environment")
    with pytest.raises(SettingsError, match="set on the command line"):
        editor.change("segments.max_gap_min", "4")
    assert own.read_text() == OWN


def test_value_is_changed_in_the_file_that_sets_it(own: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("[log]\nlevel = 'info'\n")
    editor = editor_of(own, config_file=other)
    assert editor.change("log.level", "warning").origin == f"{other}:2"
    assert own.read_text() == OWN
    editor.change("segments.overlap_tokens", "5")
    assert other.read_text() == '[log]\nlevel = "warning"\n'


def test_change_of_theme_takes_effect_at_once(own: Path) -> None:
    editor = editor_of(own)
    assert editor.change("screen.theme", "memtui-light").running == "memtui-light"
    assert editor.change("log.level", "info").running == "debug"


def test_value_is_written_even_if_reading_fails_afterwards(own: Path) -> None:
    editor = editor_of(own)
    load, reads = editor._load, iter((True, False))

    def broken_since() -> settings.Settings:
        if next(reads):
            return load()
        raise SettingsError("line 3 is broken")

    editor._load = broken_since
    entry = editor.change("log.level", "error")
    assert (entry.text, entry.origin) == ("error", str(own))
    assert 'level = "error"' in own.read_text()


def test_write_protected_file_is_unchanged(own: Path) -> None:
    own.chmod(0o444)
    with pytest.raises(SettingsError, match="is write-protected"):
        editor_of(own).change("log.level", "error")
    assert own.read_text() == OWN
    assert [*own.parent.iterdir()] == [own]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes others' files so")
def test_owner_of_the_file_is_kept(own: Path) -> None:
    os.chown(own, 1234, 5678)
    editor_of(own).change("log.level", "error")
    assert (own.stat().st_uid, own.stat().st_gid) == (1234, 5678)
    assert 'level = "error"' in own.read_text()
