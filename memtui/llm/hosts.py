"""Hosts: where a model may be asked. This machine, unless a person names another."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from memtui.llm.faults import Refused

PORT = 11434
"""Ollama's own."""


URL = f"http://127.0.0.1:{PORT}"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is."""

    scheme: str
    host: str
    """What to connect to: an address, or the name a person allowed."""
    port: int
    is_loopback: bool

    @property
    def url(self) -> str:
        """The address as a URL, without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def address(url: str, allowed: Collection[str] = ()) -> Address:
    """The address a URL names, if it may be asked.

    Args:
        url: As in the settings; the scheme and the port may be left out.
        allowed: Names and addresses of other machines a person allows.

    Raises:
        Refused: It is no such URL, or names a machine that is not allowed.
    """
    whole = url.strip() if "://" in url else f"http://{url.strip()}"
    try:
        parts = urlsplit(whole)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise Refused(f"{url} is not an address: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise Refused(f"{url} is not an address of Ollama")
    if parts.username or parts.path.strip("/") or parts.query or parts.fragment:
        raise Refused(f"{url}: only a host and a port can be named")
    local = _loopback(host)
    if not local and host not in {name.lower() for name in allowed}:
        raise Refused(
            f"{host} is another machine; nothing is sent there unless it is allowed"
        )
    usual = PORT if parts.scheme == "http" else 443
    return Address(parts.scheme, local or host, port or usual, bool(local))


def _loopback(host: str) -> str:
    """The loopback address a host stands for; "" if it is another machine.

    ``localhost`` is not looked up: what a name leads to can be changed by others.
    """
    if host == "localhost" or host.endswith(".localhost"):
        return "127.0.0.1"
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return ""
    if found.is_unspecified:
        return "127.0.0.1" if found.version == 4 else "::1"
    return str(found) if found.is_loopback else ""
