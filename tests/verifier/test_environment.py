"""A deploy-time value that can't be used stops the start and is named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from verifier.environment import Environment, require_keys

PROVIDERS = ["openai", "ollama", "openrouter"]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("maybe", lambda given: given.boolean("NAME", False)),
        ("six", lambda given: given.integer("NAME", 6)),
        ("6.5", lambda given: given.integer("NAME", 6)),
        ("-1", lambda given: given.integer("NAME", 6)),
        ("nan?", lambda given: given.number("NAME", 0.5)),
        ("nan", lambda given: given.number("NAME", 0.5)),
        ("1.5", lambda given: given.number("NAME", 0.5, most=1)),
        ("XML", lambda given: given.choice("NAME", "TOOLS", ("TOOLS", "JSON"))),
        ("gpt-4", lambda given: given.model("NAME", PROVIDERS)),
        ("/gpt-4", lambda given: given.model("NAME", PROVIDERS)),
        ("openai/", lambda given: given.model("NAME", PROVIDERS)),
        ("nobody/gpt-4", lambda given: given.model("NAME", PROVIDERS)),
        *[
            (value, lambda given: given.address("NAME"))
            for value in ("notaurl", "ftp://files.example", "http://", "http://a:port/")
        ],
        ("http://cache", lambda given: given.address("NAME", schemes=("redis", "unix"))),
        ("all", lambda given: given.proxies("NAME")),
        ("11", lambda given: given.proxies("NAME")),
        ("1,2", lambda given: given.proxies("NAME")),
        ("10.0.0.1/8", lambda given: given.proxies("NAME")),
    ],
)
def test_it_refuses_a_value_by_the_name_of_its_variable(value: str, read: Callable[[Environment], Any]) -> None:
    with pytest.raises(ImproperlyConfigured, match="NAME"):
        read(Environment({"NAME": value}))


@pytest.mark.parametrize(
    ("value", "read", "meaning"),
    [
        (" Yes ", lambda given: given.boolean("NAME", False), True),
        ("", lambda given: given.boolean("NAME", True), True),
        (" 7 ", lambda given: given.integer("NAME", 6), 7),
        ("", lambda given: given.integer("NAME", 6), 6),
        ("0.25", lambda given: given.number("NAME", 0.5), 0.25),
        ("a, b,,", lambda given: given.names("NAME"), ["a", "b"]),
        ("http://127.0.0.1:9000/x", lambda given: given.address("NAME"), "http://127.0.0.1:9000/x"),
        ("", lambda given: given.address("NAME", "https://api.example"), "https://api.example"),
        ("unix:///run/v.sock?db=0", lambda given: given.address("NAME", schemes=("unix",)), "unix:///run/v.sock?db=0"),
        ("ollama/llama3.1", lambda given: given.model("NAME", PROVIDERS), "ollama/llama3.1"),
        ("openrouter/meta/llama", lambda given: given.model("NAME", PROVIDERS), "openrouter/meta/llama"),
        ("", lambda given: given.model("NAME", PROVIDERS), ""),
    ],
)
def test_it_reads_a_value_by_its_kind(value: str, read: Callable[[Environment], Any], meaning: object) -> None:
    assert read(Environment({"NAME": value})) == meaning


def test_a_value_that_is_no_use_alone_is_told_with_the_one_it_lacks() -> None:
    Environment({"KEY": "k", "ZONE": "z"}).needs("KEY", "ZONE")
    Environment({"ZONE": "z"}).needs("KEY", "ZONE")
    with pytest.raises(ImproperlyConfigured, match="KEY is set, ZONE is not"):
        Environment({"KEY": "k"}).needs("KEY", "ZONE")


SEED = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="


@pytest.mark.parametrize(
    ("private", "public", "told"),
    [
        ("not-a-key-but-secret", [], "CHECKPOINT_KEY"),
        (SEED[:-8] + "====", [], "CHECKPOINT_KEY"),
        ("/nowhere/secret", [], "CHECKPOINT_KEY: its file can't be read"),
        (SEED, [SEED, "secret"], "CHECKPOINT_PUBLIC_KEYS"),
    ],
)
def test_a_key_that_is_none_stops_the_start_and_is_not_repeated(private: str, public: list[str], told: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=told) as refused:
        require_keys(private, public)
    assert "secret" not in str(refused.value)
    assert SEED[:8] not in str(refused.value)


def test_keys_in_order_and_none_at_all_are_taken(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SEED)
    for private in ("", SEED, str(tmp_path / "key")):
        require_keys(private, [SEED])
