"""A case is found by whatever any of its reports called it, however that is spelled."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories, scenes
from verifier.models import Case


@pytest.fixture
def case(scene: scenes.Scene) -> Case:
    return factories.case(
        scene.tenant,
        factories.finding(title="Владелец под санкциями", description="He told the court: “I signed it myself.”"),
        factories.finding("f2", title="Entrée au capital d'Ørsted Énergie"),
        report_id="INV-2026/Ä-7",
        subject={
            "name": "Jürgen Müller-Łuczak",
            "aliases": ["محمد الفارسي", "王小明", "Τζόρτζ Μύλλερ"],
            "registration_number": "EE-1042 7719",
            "identifiers": {"lei": "5493001KJTIIGC8Y1R12"},
        },
    )


def found(client: Client, text: str) -> list[Any]:
    return [row.id for row, _ in client.get(reverse("cases"), {"q": text}).context["rows"]]


@pytest.mark.parametrize(
    "text",
    [
        "jurgen",
        "MULLER-LUCZAK",
        "müller jürgen",
        "inv-2026/a-7",
        "владелец",
        "САНКЦИЯМИ",
        "entree capital",
        "orsted energie",
        "الفارسي",
        "小明",
        "μυλλερ",
        "luczak санкциями",
        "EE-1042 7719",
        "5493001kjtiigc8y1r12",
        "I signed it myself",
    ],
)
def test_it_is_found_by_id_name_number_or_words_of_a_finding_in_any_spelling(
    scene: scenes.Scene, client_of: Callable[..., Client], case: Case, text: str
) -> None:
    assert found(client_of(scene.officer), text) == [case.id]


@pytest.mark.parametrize("text", ["jurgen nobody", "%", "mu_ler", "\\", "ivanov"])
def test_what_is_not_in_it_does_not_find_it(
    scene: scenes.Scene, client_of: Callable[..., Client], case: Case, text: str
) -> None:
    assert found(client_of(scene.officer), text) == []


def test_a_newer_report_adds_what_it_says_and_takes_no_earlier_word_away(
    scene: scenes.Scene, client_of: Callable[..., Client]
) -> None:
    told = factories.report(factories.finding(title="Named in Malmö"), subject={"name": "Borealis AS"})
    case = factories.accept(scene.tenant, told).case
    newer = {"iteration": 2, "findings": [factories.finding(title="Seen in Århus")], "subject": {"name": "Boreal AS"}}
    factories.accept(scene.tenant, {**told, **newer}, factories.later())
    client = client_of(scene.officer)
    assert [found(client, text) for text in ("malmo", "borealis", "arhus")] == [[case.id]] * 3


def test_nobody_finds_another_tenants_case(
    scene: scenes.Scene, elsewhere: scenes.Scene, client_of: Callable[..., Client], case: Case
) -> None:
    assert found(client_of(elsewhere.officer), "jurgen") == []
