"""Refuses whatever a test sends beyond this machine."""

import ipaddress
from typing import Any

LOCAL_NAMES = {None, "", "localhost", b"localhost"}


class BeyondLoopback(AssertionError):
    """A test reached for the network."""


def refuse_beyond_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: sees every connection and every name look-up this process makes."""
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        if isinstance(address, tuple) and not is_local(address[0]):
            raise BeyondLoopback(f"{event} to {address[0]!r}: tests stay on this machine")
    elif event == "socket.getaddrinfo" and not is_local(arguments[0]):
        raise BeyondLoopback(f"look-up of {arguments[0]!r}: tests stay on this machine")


def is_local(host: object) -> bool:
    if host in LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host))
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
