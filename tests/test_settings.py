import os
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui import settings, workspace
from memtui.errors import SettingsError
from memtui.model.jobs import ROLLUP_JOBS
from memtui.summarize.ollama.client import parse_address
from memtui.summarize.ollama.models import ModelOptions


def load(tmp_path: Path, text: str = "", **given: object) -> settings.Settings:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return settings.load(file, **given)  # type: ignore[arg-type]


def test_defaults_without_any_file(tmp_path: Path) -> None:
    read = settings.load(tmp_path / "missing.toml")
    assert read == settings.Settings()
    assert {read.origin(name) for name in settings.SETTINGS} == {settings.DEFAULT}


def test_command_line_overrides_files_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "[segments]\nmax_gap_min = 10\noverlap_min = 1\nmax_tokens = 7\n"
    other = tmp_path / "other.toml"
    other.write_text("[segments]\nmax_gap_min = 20\noverlap_min = 2\n")
    monkeypatch.setenv("MEMTUI_SEGMENTS__MAX_GAP_MIN", "30.5")
    read = load(tmp_path, text)
    assert _segments(read) == (30.5, 1, 7)
    read = load(
        tmp_path, text, config_file=other, assignments=["segments.max_gap_min=40"]
    )
    assert _segments(read) == (40, 2, 7)
    origins = [
        read.origin(f"segments.{key}")
        for key in ("max_gap_min", "overlap_min", "max_tokens")
    ]
    assert origins == ["command line", f"{other}:3", f"{tmp_path}/config.toml:4"]


def _segments(read: settings.Settings) -> tuple[float, float, int]:
    return (
        read.segments_max_gap_min,
        read.segments_overlap_min,
        read.segments_max_tokens,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[segments]\n\nmax_gp_min = 3\n", "config.toml:3: there is no setting"),
        ("[segments]\nmax_gp_min = 3\n", "did you mean segments.max_gap_min?"),
        ("max_gap_min = 3\n", "config.toml:1: max_gap_min is outside of any"),
        ("[segments]\nmax_tokens = 2.5\n", "is a whole number from 1, not 2.5"),
        ("[segments]\nmax_tokens = true\n", "a whole number from 1, not True"),
        (
            "[segments]\nmax_tokens = 0\n",
            "config.toml:2: segments.max_tokens is a whole",
        ),
        ("[segments]\ninclude_subagents = 1\n", "is true or false, not 1"),
        ("[log]\nlevel = 3\n", "log.level is text, not 3"),
        ("[log]\nlevel = 'infos'\n", "did you mean info?"),
        ("[store]\ntime_zone = 'Mars/Olympus'\n", "there is no time zone"),
        ("[store\n", "config.toml:"),
        (
            "[summaries]\nkeep_alive = 'banana'\n",
            "config.toml:2: summaries.keep_alive cannot be 'banana'",
        ),
        ("[summaries]\nkeep_alive = '5 min'\n", "summaries.keep_alive cannot be"),
        ("[summaries]\nkeep_alive = ''\n", "summaries.keep_alive cannot be"),
        ("[jobs]\nday = '0 1 * *'\n", "config.toml:2: jobs.day cannot be '0 1 * *'"),
        ("[jobs]\n\nyear = '0 1 * 13 *'\n", "config.toml:3: jobs.year cannot be"),
        ("[jobs]\nweek = '0 25 * * 0'\n", "that is no hour"),
        ("[jobs]\nmonth = 3\n", "jobs.month is text, not 3"),
    ],
)
def test_error_names_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError) as raised:
        load(tmp_path, text)
    assert message in str(raised.value)
    assert "config.toml" in str(raised.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("segments.max_gap_min", "expected section.key=value"),
        ("segments.max_gap_min=soon", "is a number from 0.01, not 'soon'"),
        ("segments.max_gap_min=inf", "is a number from 0.01, not 'inf'"),
        ("nonsense.key=1", "there is no setting nonsense.key"),
        ("segments.include_subagents=perhaps", "is true or false"),
    ],
)
def test_error_names_argument_of_command_line(
    tmp_path: Path, given: str, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        load(tmp_path, assignments=[given])


def test_error_names_variable_of_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_LOG__LEVELS", "info")
    with pytest.raises(SettingsError, match=r"MEMTUI_LOG__LEVELS.*log\.level\?"):
        load(tmp_path)


def test_variables_of_paths_are_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_HOME", str(tmp_path))
    assert load(tmp_path).log_level == "info"


def test_template_names_every_setting_and_changes_none(tmp_path: Path) -> None:
    text = settings.template()
    assert tomllib.loads(text) == {
        name.partition(".")[0]: {} for name in settings.SETTINGS
    }
    uncommented = "\n".join(
        line.removeprefix("# ") if " = " in line else line for line in text.splitlines()
    )
    read = load(tmp_path, uncommented)
    assert replace(read, origins={}) == settings.Settings()
    assert all(len(line) <= 88 for line in text.splitlines())


def test_variable_with_one_underscore_suggests_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_MAX_GAP_MIN", "1")
    with pytest.raises(SettingsError, match="MEMTUI_SEGMENTS__MAX_GAP_MIN"):
        load(tmp_path)


def test_model_options_follow_settings(tmp_path: Path) -> None:
    assert workspace.model_options(load(tmp_path)) == ModelOptions(
        "http://127.0.0.1:11434"
    )
    read = load(
        tmp_path,
        "[summaries]\nmodel = 'qwen3:4b'\nurl = 'http://box:1'\ntimeout_s = 5\n"
        "allowed_hosts = ['box']\nwindow_tokens = 4096\n",
    )
    options = workspace.model_options(read)
    assert (options.model, options.window_tokens) == ("qwen3:4b", 4096)
    assert parse_address(options.url, options.allowed_hosts).url == "http://box:1"
    assert options.timeout_s == 5.0


def test_job_schedules_follow_settings(tmp_path: Path) -> None:
    text = "[jobs]\nday = '*/30 6 * * *'\n"
    store = tmp_path / "memory.db"
    schedules = workspace.job_schedules(load(tmp_path, text), UTC, store)
    now = datetime(2024, 5, 2, 6, tzinfo=UTC)
    assert list(schedules) == list(ROLLUP_JOBS)
    assert [
        str(replace(schedule, jitter_s=0).next_run(now))[:16]
        for schedule in schedules.values()
    ] == [
        "2024-05-02 06:30",
        "2024-05-05 02:00",
        "2024-06-01 03:00",
        "2025-01-01 04:00",
    ]
    assert {schedule.store for schedule in schedules.values()} == {str(store)}


def test_settings_file_must_be_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(SettingsError, match="not a regular file"):
        settings.load(tmp_path / "config.toml")


def test_settings_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("a = " + "[" * 5_000)
    with pytest.raises(SettingsError, match="is nested too deeply"):
        settings.load(file)


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("kiosk", ("kiosk",)),
        ("kiosk, shop", ("kiosk", "shop")),
        ('["kiosk"]', ("kiosk",)),
        ('["kiosk", "[ab]cme"]', ("kiosk", "[ab]cme")),
        ("['kiosk']", ("kiosk",)),
        ('"kiosk"', ("kiosk",)),
        ("[]", ()),
        ("[ab]cme", ("[ab]cme",)),
    ],
)
def test_list_on_the_command_line_may_be_written_as_in_the_file(
    tmp_path: Path, text: str, patterns: tuple[str, ...]
) -> None:
    read = load(tmp_path, assignments=[f"capture.exclude={text}"])
    assert read.capture_exclude == patterns


@pytest.mark.parametrize(
    "text", ["[kiosk]", '["kiosk"', "[1]", '["kiosk"], shop', "[" * 9_000 + "]"]
)
def test_list_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=r"capture\.exclude"):
        load(tmp_path, assignments=[f"capture.exclude={text}"])
