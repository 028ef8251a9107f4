import pytest

from memtui.summarize.ollama.client import parse_address
from memtui.summarize.ollama.errors import NotAllowedError


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("localhost:11434", "http://127.0.0.1:11434"),
        ("http://LOCALHOST", "http://127.0.0.1:11434"),
        ("http://127.9.9.9:80/", "http://127.9.9.9:80"),
        ("http://[::1]:1234", "http://[::1]:1234"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
    ],
)
def test_this_machine_may_be_asked(url: str, expected: str) -> None:
    address = parse_address(url)
    assert (address.url, address.is_loopback) == (expected, True)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        "http://192.168.1.5:11434",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "http://user:word@127.0.0.1",
        "http://127.0.0.1@example.org",
        "http://127.0.0.1/api",
        "ftp://127.0.0.1",
        "http://127.0.0.1:99999",
        "http://",
        "",
    ],
)
def test_other_machines_may_not_be_asked(url: str) -> None:
    with pytest.raises(NotAllowedError):
        parse_address(url)


def test_allowed_host_may_be_asked() -> None:
    address = parse_address("https://Box.local:8443", allowed_hosts=["box.local"])
    assert (address.url, address.is_loopback) == ("https://box.local:8443", False)
    with pytest.raises(NotAllowedError):
        parse_address("http://other.local", allowed_hosts=["box.local"])
