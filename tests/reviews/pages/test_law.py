"""The corpus as people read it: an act's states, an article beside another state of it, and a search."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests import factories, scenes


@pytest.fixture
def officer(scene: scenes.Scene, client_of: Callable[..., Client]) -> Client:
    return client_of(scene.officer)


def read(client: Client, name: str, *arguments: Any, **query: str) -> str:
    answer = client.get(reverse(name, args=arguments), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_each_state_of_an_act_stands_beside_the_others(officer: Client) -> None:
    factories.law_articles("34", as_of="2024-06-19")
    factories.law_articles("34", "35", as_of="2026-07-27")
    page = read(officer, "law")
    assert page.index("as of 27 Jul 2026") < page.index("as of 19 Jun 2024")
    assert page.count("32024R1624") == 1
    assert "2 articles" in page


def test_nothing_imported_is_said(officer: Client) -> None:
    assert "No law has been imported yet" in read(officer, "law")


def test_an_article_shows_its_parts_its_hash_and_its_file(officer: Client) -> None:
    [one] = factories.law_articles("34")
    page = read(officer, "law_article", one.id)
    for shown in ("article 34", "Records", "Entities shall keep records.", "(a)", "of customers", one.sha256, "en.xml"):
        assert shown in page


def test_two_states_are_told_apart_word_by_word(officer: Client) -> None:
    [before] = factories.law_articles("34", as_of="2024-06-19", words="Entities shall keep records for five years.")
    [now] = factories.law_articles("34", as_of="2026-07-27", words="Entities shall keep copies for five years.")
    page = read(officer, "law_article", now.id, than=str(before.id))
    assert "<del>records</del> <ins>copies</ins>" in page
    assert "Entities shall keep" in page
    assert "difference</a>" in read(officer, "law_article", now.id)
    [same] = factories.law_articles("34", as_of="2026-12-01", words="Entities shall keep copies for five years.")
    assert "the same words" in read(officer, "law_article", same.id)


def test_another_acts_article_is_no_state_of_it(officer: Client) -> None:
    [one] = factories.law_articles("34")
    [other] = factories.law_articles("34", instrument="32015L0849", words="Something else.")
    assert "Something else" not in read(officer, "law_article", one.id, than=str(other.id))


@pytest.mark.parametrize(
    ("words", "found"),
    [("keep records", True), ("RECORDS keep", True), ("keep nothing", False), ("%", False), ("_", False)],
)
def test_a_search_finds_articles_that_hold_each_word(officer: Client, words: str, found: bool) -> None:
    [one] = factories.law_articles("34")
    assert (reverse("law_article", args=[one.id]) in read(officer, "law", q=words)) is found


def test_only_the_newest_text_is_searched(officer: Client) -> None:
    [before] = factories.law_articles("34", as_of="2024-06-19")
    [now] = factories.law_articles("34", as_of="2026-07-27")
    page = read(officer, "law", q="records")
    assert reverse("law_article", args=[now.id]) in page
    assert reverse("law_article", args=[before.id]) not in page


def test_a_long_act_is_listed_in_parts_and_asks_no_more(officer: Client) -> None:
    few = factories.law_articles("1")[0].law
    many = factories.law_articles(*map(str, range(1, 251)), instrument="32013R0575")[0].law
    asked = []
    for text in (few, many):
        with CaptureQueriesContext(connection) as queries:
            page = read(officer, "law_text", text.id)
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 12
    assert page.count('href="/law/articles/') == 200
    assert read(officer, "law_text", many.id, page="2").count('href="/law/articles/') == 50


def test_what_a_text_says_is_shown_as_text(officer: Client) -> None:
    [one] = factories.law_articles("34", words="<script>alert(1)</script>")
    assert "<script>alert(1)</script>" not in read(officer, "law_article", one.id)


@pytest.mark.parametrize("table", ["verifier_lawimport", "verifier_lawtext", "verifier_lawarticle"])
def test_nobody_rewrites_the_corpus(scene: scenes.Scene, table: str) -> None:
    factories.law_articles("34")
    for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}"):
        with pytest.raises(DatabaseError, match="refused"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
