"""A client's address behind proxies: nothing a client writes itself changes whose attempts are counted."""

import pytest
from django.test import RequestFactory

from reviews.addresses import client_address
from verifier.environment import Environment

CLIENT, PROXY, OUTER = "203.0.113.7", "10.0.0.2", "10.0.0.9"
FORGED = "198.51.100.1"
NETWORKS = "10.0.0.0/8,fd00::/8"


def address(*, trusted: str, remote: str, header: str = "") -> str:
    from django.conf import settings
    from django.test import override_settings

    assert not settings.TRUSTED_PROXIES, "no proxy is believed unless the environment says so"
    meta = {"REMOTE_ADDR": remote, **({"HTTP_X_FORWARDED_FOR": header} if header else {})}
    with override_settings(TRUSTED_PROXIES=Environment({"NAME": trusted}).proxies("NAME")):
        return client_address(RequestFactory().get("/", **meta))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("trusted", "remote", "header", "whose"),
    [
        ("", CLIENT, "", CLIENT),
        ("", CLIENT, FORGED, CLIENT),
        ("", PROXY, CLIENT, PROXY),
        ("", "", FORGED, "socket"),
        ("1", PROXY, CLIENT, CLIENT),
        ("1", PROXY, f"{FORGED}, {CLIENT}", CLIENT),
        ("1", "", CLIENT, CLIENT),
        ("1", CLIENT, "", CLIENT),
        ("2", PROXY, f"{CLIENT}, {OUTER}", CLIENT),
        ("2", PROXY, f"{FORGED}, {CLIENT}, {OUTER}", CLIENT),
        ("2", PROXY, OUTER, PROXY),
        ("1", PROXY, "unknown", PROXY),
        (NETWORKS, PROXY, CLIENT, CLIENT),
        (NETWORKS, PROXY, f"{FORGED}, {CLIENT}", CLIENT),
        (NETWORKS, PROXY, f"{FORGED}, {CLIENT}, {OUTER}", CLIENT),
        (NETWORKS, PROXY, f"{OUTER}, {CLIENT}", CLIENT),
        (NETWORKS, CLIENT, FORGED, CLIENT),
        (NETWORKS, CLIENT, f"{FORGED}, {PROXY}", CLIENT),
        (NETWORKS, PROXY, "", PROXY),
        (NETWORKS, PROXY, f"{CLIENT}, not-an-address", PROXY),
        (NETWORKS, PROXY, f"{CLIENT}:50123", CLIENT),
        (NETWORKS, f"::ffff:{PROXY}", CLIENT, CLIENT),
        (NETWORKS, "fd00::2", "[2001:db8:1:2:aaaa::1]:443", "2001:db8:1:2::/64"),
        (NETWORKS, "fd00::2", "2001:db8:1:2:bbbb::2", "2001:db8:1:2::/64"),
    ],
)
def test_it_is_what_the_outermost_trusted_proxy_saw(trusted: str, remote: str, header: str, whose: str) -> None:
    assert address(trusted=trusted, remote=remote, header=header) == whose
