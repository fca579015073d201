"""Citations against the official texts: to the provision, or to what is missing of it."""

import json
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit.models import ActorType
from tests.paths import SHARED
from verifier.models import LawText
from verifier.services.citations import resolve
from verifier.services.corpus import Hand, Said, take_in

pytestmark = pytest.mark.django_db
BY = Hand("ada", ActorType.PERSON, "admin")
AMLR = "law/AMLR_2024-1624/32024r1624@2024-05-31-ee154aa4/en.xml"
TODAY = date(2026, 12, 1)
ROWS = [json.loads(line) for line in (SHARED / "citations/dev.jsonl").read_text(encoding="utf-8").splitlines()]


def bring_in(path: str, as_of: date | None = None) -> None:
    place = SHARED / path
    said = Said(as_of=as_of, accept="What is cited is in it." if "excerpt" in path else "")
    take_in(name=place.name, content=place.read_bytes(), said=said, by=BY, at=timezone.now())


def day(value: str | None) -> date | None:
    return date.fromisoformat(value) if value and value[:4].isdigit() else None


@pytest.fixture
def official() -> None:
    for path, as_of in {row["source_file"]: row["as_of"] for row in ROWS if row["source_file"]}.items():
        bring_in(path, day(as_of))


@pytest.mark.usefixtures("official")
def test_each_labelled_citation_leads_to_its_articles_or_nowhere() -> None:
    wrong = []
    for row in ROWS:
        if not row["text_verified"] and row["articles"]:
            continue  # its wording is of a state that is not among the texts
        found = resolve(row["citation"], instrument=row["instrument"], as_of=day(row["as_of"]), today=TODAY)
        numbers = sorted({each["article"] for each in found.provisions})
        wanted = sorted(row["articles"]) if row["verdict"] != "unresolvable" else None
        if (found.state == "resolved" and numbers == wanted) if wanted else found.state != "resolved":
            continue
        wrong.append((row["citation"], row["as_of"], found.state, numbers))
    assert wrong == []


@pytest.mark.parametrize(
    ("citation", "state"),
    [
        ("AMLR Art. 22", "resolved"),
        ("Art. 22 of Regulation (EU) 2024/1624", "resolved"),
        ("AMLR Art. 95", "no_such_article"),
        ("AMLR Art. 42(7)", "no_such_paragraph"),
        ("AMLR Art. 33(1)(z)", "no_such_point"),
        ("AMLR Art. 89-93", "partly_resolved"),
        ("AMLR Art. 44-42", "ungrammatical"),
        ("AMLR", "ungrammatical"),
        ("Law of the sea Art. 1", "no_such_instrument"),
        ("AMLD6 Art. 4", "not_in_corpus"),
        ("AMLD-VI Art. 4", "ambiguous"),
    ],
)
def test_what_is_missing_is_named(citation: str, state: str) -> None:
    bring_in(AMLR)
    found = resolve(citation, today=TODAY)
    assert found.state == state
    assert bool(found.missing or found.reason) is (state != "resolved")


def test_a_part_has_a_hash_of_its_own() -> None:
    bring_in(AMLR)
    hashes = [resolve(f"AMLR Art. {each}", today=TODAY).provisions[0]["sha256"] for each in ("33", "33(1)", "33(1)(a)")]
    assert len(set(hashes)) == 3


def test_no_later_state_stands_in_for_the_law_of_that_day() -> None:
    bring_in(AMLR)
    assert resolve("AMLR Art. 22", as_of=date(2024, 5, 30), today=TODAY).state == "not_in_corpus"
    assert resolve("AMLR Art. 22", as_of=date(2024, 5, 31), today=TODAY).state == "resolved"


def test_an_act_that_is_known_but_not_here_is_told_apart() -> None:
    assert not LawText.objects.exists()
    assert resolve("AMLR Art. 22", today=TODAY).state == "not_in_corpus"


def shell(*words: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("resolve_citation", *words, "--json", stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_shell_gives_rows_back_with_what_was_found(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"citation": "AMLR Art. 22", "mine": 7}\n\n{"citation": "AMLR"}\n', encoding="utf-8")
    first, second = shell("--file", str(file))
    assert (first["mine"], first["state"], second["state"]) == (7, "not_in_corpus", "ungrammatical")


@pytest.mark.parametrize("flag", [[], ["--json"]])
def test_signs_that_no_database_holds_are_only_strange(tmp_path: Path, flag: list[str]) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(r'{"citation": "AMLR\ud800 Art. 1", "instrument": "A\u0000\udfff"}' + "\n", encoding="utf-8")
    out = StringIO()
    call_command("resolve_citation", "--file", str(file), *flag, stdout=out)
    assert "not_in_corpus" in out.getvalue()
    out.getvalue().encode("utf-8")


@pytest.mark.parametrize("line", ["no json", "[1]", '{"citation": 5}', '{"citation": ' + "[" * 100_000])
def test_a_row_that_cannot_be_read_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f'{{"citation": "AMLR"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(CommandError, match="line 2"):
        shell("--file", str(file))
