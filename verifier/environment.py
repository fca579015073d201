"""Reads deploy-time values from the environment; a value that can't be used stops the start and is named."""

import os
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from audit.signing import PUBLIC_BYTES, UnusableKey, decode, load_signer

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}
Address = IPv4Address | IPv6Address
Networks = tuple[IPv4Network | IPv6Network, ...]


class Environment:
    """A mapping of settings (the process environment, or a test's own) with typed, loud accessors."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self.values = os.environ if values is None else values

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, "").strip() or default

    def boolean(self, name: str, default: bool) -> bool:
        value = self.text(name)
        if not value:
            return default  # blank is how a compose file passes on what nobody set
        if value.lower() in TRUE:
            return True
        if value.lower() in FALSE:
            return False
        raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")

    def integer(self, name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
        value = self.text(name)
        if not value:
            return default
        try:
            number = int(value)
        except ValueError:
            raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}") from None
        if not least <= number <= most:
            raise ImproperlyConfigured(f"{name} must lie between {least} and {most}, not {number}")
        return number

    def number(self, name: str, default: float, *, least: float = 0.0, most: float = 1e9) -> float:
        value = self.text(name)
        if not value:
            return default
        try:
            number = float(value)
        except ValueError:
            raise ImproperlyConfigured(f"{name} must be a number, not {value!r}") from None
        if not least <= number <= most:
            raise ImproperlyConfigured(f"{name} must lie between {least} and {most}, not {number}")
        return number

    def names(self, name: str, default: str = "") -> list[str]:
        return [part.strip() for part in self.text(name, default).split(",") if part.strip()]

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        value = self.text(name, default)
        if value not in allowed:
            raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def model(self, name: str, providers: Iterable[str]) -> str:
        """A model as `provider/name`, of a provider that is known; or nothing."""
        value = self.text(name)
        provider, _, model = value.partition("/")
        if value and not (model and provider in providers):
            raise ImproperlyConfigured(
                f"{name} must be provider/model, of {', '.join(providers)}, not {value!r}; "
                "any other OpenAI-compatible endpoint is openai/<model> with its own base address"
            )
        return value

    def address(self, name: str, default: str = "", schemes: tuple[str, ...] = ("http", "https")) -> str:
        """The address of a service, or nothing."""
        value = self.text(name, default)
        try:
            parts = urlsplit(value)
            usable = parts.scheme in schemes and bool(parts.netloc or parts.path.strip("/"))
            parts.port  # noqa: B018  # raises for a port that is none
        except ValueError:
            usable = False
        if value and not usable:
            raise ImproperlyConfigured(f"{name} must be an address that begins with {' or '.join(schemes)}://")
        return value

    def needs(self, name: str, other: str) -> None:
        """Of two values that only work together, neither may be alone."""
        if self.text(name) and not self.text(other):
            raise ImproperlyConfigured(f"{name} is set, {other} is not: the one is no use without the other")

    def proxies(self, name: str) -> int | Networks:
        """How many proxies stand before the application, or the networks they are in; none unless set."""
        told = self.names(name)
        if len(told) <= 1 and "".join(told).isdecimal():
            return self.integer(name, 0, most=10)
        try:
            return tuple(ip_network(network) for network in told)
        except ValueError as problem:
            raise ImproperlyConfigured(
                f"{name} must be a number of proxies or networks such as 10.0.0.0/8: {problem}"
            ) from None


def require_keys(private: str, public: Iterable[str]) -> None:
    """CHECKPOINT_KEY and CHECKPOINT_PUBLIC_KEYS as they are; what is said of a wrong one repeats nothing of it."""
    try:
        load_signer(private)
        for each in public:
            decode(each, PUBLIC_BYTES, "a key of CHECKPOINT_PUBLIC_KEYS")
    except UnusableKey as problem:
        raise ImproperlyConfigured(str(problem)) from None
