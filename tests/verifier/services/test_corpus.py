"""A file of law comes in whole, is held, or is refused; nothing replaces anything, and each time there is an event."""

import json
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from audit.models import SYSTEM_TENANT_ID, ActorType, AuditEvent, Tenant
from audit.sealed import Opened, open_event
from audit.verification import verify_tenant
from tests.audit.trails import bypass_guards, run, seal
from tests.verifier.law.files import path
from verifier.models import LawArticle, LawImport, LawText
from verifier.services.corpus import UNDATED, Hand, Said, Taken, take_in

pytestmark = pytest.mark.django_db
BY = Hand("ada", ActorType.PERSON, "admin")
STATE = "AMLD4_2015-849/*2018-07-09*"


def page(*numbers: str, words: str = "Entities shall keep records of it.", stands: str = "01.02.2024") -> bytes:
    """A consolidated text with these articles."""
    heading, text = '<p class="title-article-norm">Article {0}</p>', '<p class="norm">1.  {1} ({0})</p>'
    articles = "".join((heading + text).format(number, words) for number in numbers)
    return f'<html><body><p class="reference">02015L0849 — EN — {stands} — 001.001</p>{articles}</body></html>'.encode()


def take(content: bytes, **said: Any) -> Taken:
    return take_in(name="en.html", content=content, said=Said(**said), by=BY, at=timezone.now())


def last_event() -> AuditEvent:
    return AuditEvent.objects.filter(tenant_id=SYSTEM_TENANT_ID, event_type="law_imported").latest("recorded_at")


def test_a_text_comes_in_with_its_articles_its_bytes_and_its_event() -> None:
    content = page("1", "2", "2a")
    taken = take(content)
    assert taken.source.state == "imported"
    text = LawText.objects.get()
    assert (text.instrument, text.language, text.as_of, text.article_count) == ("32015L0849", "en", date(2024, 2, 1), 3)
    assert bytes(LawImport.objects.get().content) == content
    assert list(text.articles.order_by("position").values_list("number", flat=True)) == ["1", "2", "2a"]
    [part] = text.articles.get(number="2a").parts
    assert (part["number"], part["text"]) == ("1", "Entities shall keep records of it. (2a)")
    said = open_event(last_event())
    assert isinstance(said, Opened)
    assert (last_event().outcome, last_event().actor, said.details["sha256"]) == ("imported", "ada", text.sha256)


def test_both_formats_of_a_state_are_one_text() -> None:
    first = take(path(f"{STATE}/en.html").read_bytes())
    second = take(path(f"{STATE}/en.fmx4/*.0001.xml").read_bytes())
    assert (first.source.state, second.source.state) == ("imported", "imported")
    assert first.text == second.text
    assert LawText.objects.count() == 1
    assert LawArticle.objects.count() == 78


def test_states_live_side_by_side() -> None:
    take(page("1", stands="01.02.2024"))
    take(page("1", words="Entities shall keep copies of it.", stands="01.03.2025"))
    assert sorted(LawText.objects.values_list("as_of", flat=True)) == [date(2024, 2, 1), date(2025, 3, 1)]


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        (page("1", "2", "3", words="Entities shall keep copies of it."), "another_text"),
        (page("1", stands="01.03.2025"), "much_shorter"),
    ],
)
def test_what_looks_wrong_is_held_until_somebody_accepts_it(second: bytes, kind: str) -> None:
    take(page("1", "2", "3"))
    held = take(second)
    assert (held.source.state, held.source.kind, held.text) == ("held", kind, None)
    assert bytes(LawImport.objects.get(id=held.source.id).content) == second
    assert LawText.objects.count() == 1
    assert last_event().outcome == "held"
    accepted = take(second, accept="The publisher corrected it.")
    assert accepted.source.state == "imported"
    assert accepted.source.accepted == "The publisher corrected it."
    assert LawText.objects.count() == 2, "and the one before stays"


def test_what_is_no_law_is_refused_and_leaves_no_text() -> None:
    taken = take(b"<html><body><p>Hello</p></body></html>")
    assert (taken.source.state, taken.source.kind) == ("refused", "no_articles")
    assert not LawText.objects.exists()
    assert last_event().outcome == "refused"


def test_a_gap_is_only_a_warning() -> None:
    taken = take(page("55", "57"))
    assert taken.source.state == "imported"
    assert taken.warnings == ["No article 56."]


def test_what_the_file_does_not_say_is_asked_for() -> None:
    content = page("1").replace(b"02015L0849", b"nothing")
    assert take(content).source.kind == "no_instrument"
    undated = take(content, instrument="AMLD3")
    assert undated.warnings == [UNDATED]
    taken = take(content, instrument="AMLD4", as_of=date(2024, 2, 1))
    assert taken.text is not None
    assert taken.text.instrument == "AMLD4"


def test_a_text_changed_behind_the_application_is_found() -> None:
    take(page("1", "2"))
    seal()
    system = Tenant.objects.get(id=SYSTEM_TENANT_ID)
    assert verify_tenant(tenant=system, missing_guards=[]).broken is None
    bypass_guards()
    run("ALTER TABLE verifier_lawarticle DISABLE TRIGGER USER")
    run("UPDATE verifier_lawarticle SET text = replace(text, 'shall', 'may')")
    broken = verify_tenant(tenant=system, missing_guards=[]).broken
    assert broken is not None
    assert broken.detail == "law: the row's sha256 is not what the event recorded"


def command(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    out = StringIO()
    try:
        call_command("import_law", *arguments, "--json", stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), [json.loads(line) for line in out.getvalue().splitlines()]
    return 0, [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_command_tells_of_each_file_and_fails_for_one_that_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(page("1", "2"))
    (tmp_path / "b.html").write_bytes(b"no law")
    (tmp_path / "meta.json").write_text("{}")
    code, told = command(str(tmp_path))
    assert code == 1
    assert [each["state"] for each in told] == ["imported", "refused"]
    assert {name: told[0][name] for name in ("instrument", "version", "language", "format", "articles")} == {
        "instrument": "32015L0849",
        "version": "2024-02-01",
        "language": "en",
        "format": "eurlex_consolidated",
        "articles": 2,
    }
    assert told[1]["reason"]
    assert command(str(tmp_path / "a.html"))[0] == 0


def test_two_who_import_the_same_make_one_text(django_assert_max_num_queries: Any) -> None:
    take(page(*map(str, range(1, 800))))
    with django_assert_max_num_queries(14):
        take(page(*map(str, range(1, 800)), words="Entities shall keep copies of it.", stands="01.03.2025"))
    assert LawArticle.objects.count() == 2 * 799
    assert connection.queries_log is not None
