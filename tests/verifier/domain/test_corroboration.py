from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier.domain.samples import finding
from verifier.domain.corroboration import (
    group_fingerprint,
    label,
    short_source_name,
    source_name,
    source_of,
    trust_for,
)
from verifier.domain.findings import read_finding
from verifier.domain.taxonomy import words_of, words_of_short

FROZEN = {"category": "criminal", "title": "Assets of Acme Trading OÜ frozen"}


def counts(*findings: dict[str, Any], subject: str = "") -> list[int]:
    return [one.corroboration_count for one in label([finding(**keys) for keys in findings], subject=subject)]


@pytest.mark.parametrize(
    ("one", "other", "counted"),
    [
        ({"_provider": "tavily"}, {"_provider": "opensanctions"}, [2, 2]),
        ({"_provider": "tavily"}, {"_provider": "tavily"}, [1, 1]),
        ({"_provider": "tavily"}, {"_provider": "TAVILY "}, [1, 1]),
        ({"source": "Reuters"}, {"source": "AP"}, [2, 2]),
        ({"source": "Reuters"}, {"source": "reuters"}, [1, 1]),
        ({"_provider": "tavily", "source": "Reuters"}, {"_provider": "tavily", "source": "AP"}, [1, 1]),
        # one source under several names
        ({"source": "KBO/BCE"}, {"source": "Kruispuntbank van Ondernemingen"}, [1, 1]),
        ({"source": "NBB CBSO"}, {"source": "Nationale Bank"}, [1, 1]),
        ({"source": "Belgisch Staatsblad"}, {"source": "Moniteur belge"}, [1, 1]),
        ({"source": "inhoudingsplicht"}, {"source": "Withholding Obligation"}, [1, 1]),
        ({"source": "nbb annual"}, {"source": "crossroads"}, [2, 2]),
        # an absent source never adds
        ({"_provider": "tavily"}, {}, [1, 1]),
        ({}, {}, [0, 0]),
        ({"source": "  ", "_provider": None}, {"source": 5}, [0, 0]),
        # exact key
        ({"_provider": "tavily"}, {"_provider": "exa", "title": "Assets of  ACME Trading OÜ frozen"}, [2, 2]),
        ({"_provider": "tavily"}, {"_provider": "exa", "title": "Assets of Acme Trading O\u0055\u0308 frozen"}, [2, 2]),
        ({"_provider": "tavily"}, {"_provider": "exa", "title": "Assets of Acme Trading OÜ were frozen"}, [1, 1]),
        ({"_provider": "tavily"}, {"_provider": "exa", "target": "Acme Holding"}, [1, 1]),
        ({"_provider": "tavily"}, {"_provider": "exa", "attribution_lane": "unverified_candidate"}, [1, 1]),
        ({"_provider": "tavily"}, {"_provider": "exa", "attribution_lane": "subject"}, [2, 2]),
        ({"_provider": "tavily"}, {"_provider": "exa", "category": "sanctions"}, [1, 1]),
        ({"_provider": "tavily"}, {"_provider": "exa", "category": "", "type": "criminal"}, [2, 2]),
        # synthesised from two providers inside one finding
        ({"_provider": "tavily, exa"}, {"title": "Another"}, [1, 0]),
    ],
)
def test_distinct_sources_of_one_matter_are_counted(
    one: dict[str, Any], other: dict[str, Any], counted: list[int]
) -> None:
    assert counts({**FROZEN, **one}, {**FROZEN, **other}) == counted


def test_an_absent_target_is_the_subject() -> None:
    one = {**FROZEN, "_provider": "tavily"}
    other = {**FROZEN, "_provider": "exa", "target": "ACME Trading  OÜ"}
    assert counts(one, other, subject="Acme Trading OÜ") == [2, 2]


def test_a_label_says_count_trust_and_who() -> None:
    findings = [finding(**FROZEN, _provider="tavily", source="Reuters"), finding(**FROZEN, source="KBO/BCE")]
    first, second = label(findings)
    assert first == (0.70, 2, True, False, ("kbo", "tavily"))
    assert second.source_trust == 0.98
    assert label([finding(severity="critical", _provider="opensanctions")])[0][:4] == (0.96, 1, False, True)


@pytest.mark.parametrize(
    ("source", "trust", "known"),
    [
        ("opensanctions", 0.96, True),
        ("OpenSanctions", 0.96, True),
        ("brightdata_serp", 0.72, True),
        ("brightdata", 0.72, True),
        ("tavily", 0.70, True),
        ("exa", 0.70, True),
        ("gleif", 0.97, True),
        ("llm_extraction", 0.75, True),
        ("sanctions_resolver", 0.96, True),
        ("crawl4ai", 0.70, True),
        ("Reuters", 0.75, False),
        ("Exact Editions", 0.75, False),
        ("", 0.75, False),
    ],
)
def test_a_source_has_a_trust(source: str, trust: float, known: bool) -> None:
    assert trust_for(source) == (trust, known)


ROWS = st.fixed_dictionaries(
    {"title": st.sampled_from(["A", "a", "B ", "ﬁ", "fi"])},
    optional={
        "_provider": st.sampled_from(["tavily", "exa", "", "KBO/BCE"]),
        "source": st.text(max_size=5),
        "target": st.sampled_from(["X", "x", "", "Y"]),
        "attribution_lane": st.sampled_from(["subject", "unverified_candidate"]),
        "category": st.sampled_from(["criminal", "sanctions", ""]),
    },
)


@given(st.lists(ROWS, max_size=20), st.randoms(use_true_random=False))
def test_labels_only_add_and_do_not_depend_on_order(rows: list[dict[str, Any]], shuffler: Any) -> None:
    findings = [finding(**row) for row in rows]
    labels = label(findings)
    assert len(labels) == len(findings)
    assert findings == [finding(**row) for row in rows]
    assert all(one.corroborated is (one.corroboration_count >= 2) is not one.uncorroborated for one in labels)
    order = shuffler.sample(range(len(findings)), len(findings))
    assert label([findings[place] for place in order]) == [labels[place] for place in order]


@given(st.lists(ROWS, max_size=12))
def test_counts_are_those_of_plain_sets(rows: list[dict[str, Any]]) -> None:
    findings = [finding(**row) for row in rows]
    for one, told in zip(findings, label(findings), strict=True):
        same = [other for other in findings if key_of(other) == key_of(one)]
        assert set(told.sources) == {name for other in same for name in label([other])[0].sources}
        assert told.corroboration_count == len(told.sources)


@given(st.lists(ROWS, max_size=12))
def test_a_fingerprint_names_the_group_that_was_counted_together(rows: list[dict[str, Any]]) -> None:
    findings = [finding(**row) for row in rows]
    groups = [group_fingerprint(one, subject="X") for one in findings]
    for one, group, told in zip(findings, groups, label(findings, subject="X"), strict=True):
        same = [other for other, its in zip(findings, groups, strict=True) if its == group]
        assert one in same
        assert set(told.sources) == {source_name(source_of(other)) for other in same} - {""}


def key_of(one: Any) -> tuple[str, str, str, str]:
    return (
        (one.target or "").casefold(),
        one.attribution_lane,
        one.category or one.type,
        one.title.casefold().replace("ﬁ", "fi"),
    )


def test_many_sources_stay_linear_in_what_is_remembered():
    """A group of one source holds one number, however many sources the report has."""
    told = [
        read_finding({"id": str(at), "severity": "high", "title": f"t{at}", "category": "c", "source": f"s {at}"})
        for at in range(20_000)
    ]

    labels = label(told)

    assert {one.corroboration_count for one in labels} == {1}
    assert [one.sources for one in labels[:2]] == [("s 0",), ("s 1",)]
    assert len(label([replace(one, title="same") for one in told])[0].sources) == 20_000


def test_long_texts_are_not_remembered():
    before = (short_source_name.cache_info().currsize, words_of_short.cache_info().currsize)

    trust_for("x" * 201)
    words_of("y" * 201)

    assert (short_source_name.cache_info().currsize, words_of_short.cache_info().currsize) == before
