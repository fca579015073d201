"""Whose request it is behind proxies: `X-Forwarded-For` is believed only as far as trusted proxies wrote it."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

from verifier.environment import Address, Networks

SUBSCRIBER_BITS = 64  # of an IPv6 address: one subscriber has all that follow


def client_address(request: HttpRequest) -> str:
    """The client's address, an IPv6 one as its network; the connection's own where no proxy is trusted."""
    chain = [*forwarded(request), request.META.get("REMOTE_ADDR") or "socket"]
    trusted = settings.TRUSTED_PROXIES
    told = by_count(chain, trusted) if isinstance(trusted, int) else by_network(chain, trusted)
    address = read(told)
    return told if address is None else grouped(address)


def forwarded(request: HttpRequest) -> list[str]:
    """The addresses as each proxy appended them: the last is what the nearest one saw."""
    return [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]


def by_count(chain: list[str], proxies: int) -> str:
    """So many of the last entries are proxies. A shorter chain came past one of them, and proves nothing."""
    if len(chain) <= proxies or read(chain[-1 - proxies]) is None:
        return chain[-1]
    return chain[-1 - proxies]


def by_network(chain: list[str], networks: Networks) -> str:
    """From the connection backwards, the first that is no trusted proxy; what stands before it, it may have made up."""
    believed = chain[-1]
    for told in reversed(chain):
        address = read(told)
        if address is None:
            return believed
        believed = told
        if not any(address in network for network in networks):
            return told
    return believed


def read(told: str) -> Address | None:
    """An address as proxies write it: with or without a port, IPv6 with or without brackets."""
    if told.startswith("["):
        told = told[1:].partition("]")[0]
    elif told.count(":") == 1:
        told = told.partition(":")[0]
    try:
        address = ip_address(told)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def grouped(address: Address) -> str:
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address), SUBSCRIBER_BITS), strict=False))
    return str(address)
