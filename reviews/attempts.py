"""Counts failed sign-ins. Each attempt is counted before its password is looked at and given back once it was right.

So failures alone are left counted, and attempts that run side by side can't together try more than the limit.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from math import ceil

from django.core.cache import cache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
PERIOD = 300  # seconds
PER_NAME = 5  # failures with one name from one address
PER_ADDRESS = 60  # failures from one address, whatever the names


@dataclass(frozen=True, slots=True)
class Attempt:
    """`wait`: the minutes until another attempt may be made; 0 where this one may."""

    counters: tuple[str, ...]
    wait: int

    def give_back(self) -> None:
        """The password was right. Where that can't be counted, one attempt fewer is left, which is the safe side."""
        try:
            for counter in self.counters:
                cache.decr(counter)
        except (RedisError, OSError, ValueError) as problem:
            logger.warning("sign-in not given back: %s", type(problem).__name__)


def count(*, address: str, name: str, at: datetime) -> Attempt:
    """Counts an attempt by name and by address; a name under attack doesn't hide an address that tries many.

    Raises RedisError where nothing can be counted.
    """
    limits = {f"name:{address}:{name.strip().casefold()}": PER_NAME, f"address:{address}": PER_ADDRESS}
    counted = [(*counter(told, at), most) for told, most in limits.items()]
    waits = [left for key, left, most in counted if add(key) > most]
    return Attempt(tuple(key for key, *_ in counted), ceil(max(waits, default=0) / 60))


def counter(told: str, at: datetime) -> tuple[str, float]:
    """The counter of the period that `at` falls in, and the seconds it has left; each begins at its own moment."""
    digest = sha256(told.encode("utf-8", "replace")).hexdigest()
    period, passed = divmod(at.timestamp() + int(digest[:8], 16) % PERIOD, PERIOD)
    return f"sign_in:{digest}:{int(period)}", PERIOD - passed


def add(key: str) -> int:
    """Kept for two periods, so that it can't be gone between the two steps."""
    cache.add(key, 0, 2 * PERIOD)
    return int(cache.incr(key))
