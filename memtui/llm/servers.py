"""Whether an Ollama answers on this machine, and what it has.

Only this machine is ever asked, and no proxy: what an address elsewhere says is no
business of a look at one's own machine.
"""

import ipaddress
import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from memtui.memory.events import clean

PORT = 11434
"""Ollama's own port."""

PATIENCE_S = 0.3
"""How long to wait for an answer, in seconds."""

MOST_BYTES = 1 << 20
"""How much of an answer is read."""


@dataclass(frozen=True, slots=True)
class Server:
    """What is known of an Ollama."""

    address: str
    is_here: bool
    """Whether the address is this machine's; it was not asked otherwise."""
    is_reachable: bool = False
    version: str = ""
    models: tuple[str, ...] = ()
    """The models it holds itself; those it only passes on are left out."""


def ollama(named: str = "", *, patience_s: float = PATIENCE_S) -> Server:
    """Ask the Ollama of this machine who it is.

    Args:
        named: Where it is said to be, as ``OLLAMA_HOST`` has it; its own place if
            empty.
        patience_s: How long to wait for each answer.
    """
    try:
        parts = urlsplit(named if "//" in named else f"//{named}")
        host, port = parts.hostname or "127.0.0.1", parts.port or PORT
    except ValueError:
        return Server(named, is_here=False)
    host = "127.0.0.1" if host in ("0.0.0.0", "localhost") else host
    address = f"{host}:{port}"
    if not _is_loopback(host):
        return Server(address, is_here=False)
    try:
        version = _asked(host, port, "/api/version", patience_s).get("version")
        listed = _asked(host, port, "/api/tags", patience_s).get("models")
    except (OSError, HTTPException, ValueError):
        return Server(address, is_here=True)
    return Server(address, True, True, clean(str(version or "")), tuple(_names(listed)))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _asked(host: str, port: int, path: str, patience_s: float) -> dict[str, Any]:
    connection = HTTPConnection(host, port, timeout=patience_s)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        said = json.loads(answer.read(MOST_BYTES))
        if answer.status != 200 or not isinstance(said, dict):
            raise ValueError("not what Ollama answers")
        return said
    finally:
        connection.close()


def _names(listed: object) -> list[str]:
    models = listed if isinstance(listed, list) else []
    own = [m for m in models if isinstance(m, dict) and not m.get("remote_host")]
    return sorted(clean(str(model["name"])) for model in own if model.get("name"))
