"""An export proves itself in a bare interpreter, and tells nothing of what it is not about."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from io import StringIO
from pathlib import Path
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit import checkpoints, sealed
from audit.export import CannotExport
from audit.models import AuditEvent, Tenant
from audit.notary import write_checkpoint
from audit.proofs import Prover
from audit.sealed import open_event
from audit.signing import encode, hand_over
from audit.verification import verify_tenant
from tests.audit import offline
from tests.audit.exports import AT, OPERATOR, THIEF, lines, make
from tests.audit.trails import append, bypass_guards, run, seal

NAME = "Maarja Tamm-Õunapuu"
OTHER = "Jaan Kask"
verify = offline.load()
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def signing(settings, tmp_path: Path) -> Iterator[None]:
    settings.CHECKPOINT_KEY = encode(b"\1" * 32)
    settings.CHECKPOINT_STORE = "audit.checkpoints.DirectoryStore"
    settings.CHECKPOINT_DIR = tmp_path / "checkpoints"
    settings.CHECKPOINT_PUBLIC_KEYS = []
    sealed.keys.clear()
    yield
    sealed.keys.clear()


@pytest.fixture
def case(tenant: Tenant) -> UUID:
    """A trail of three cases and what belongs to none, in two checkpoints; this is the first case."""
    ids = [uuid4() for _ in range(3)]
    for place in range(12):
        who = NAME if place % 3 == 0 else OTHER
        append(tenant, case_id=ids[place % 3], subject=who, details={"reason": f"{who}, reason {place}"})
        append(tenant, actor=OTHER, subject="a switch", details={"place": place})
        if place == 7:
            seal()
            write_checkpoint(tenant=tenant, at=AT)
    seal()
    return ids[0]


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_a_whole_trail_verifies_in_a_bare_interpreter(tenant: Tenant, case: UUID, tmp_path: Path) -> None:
    exported = make(tenant, tmp_path / "out")

    done = offline.run(tmp_path / "out", "--key", encode(OPERATOR.public))

    assert (done.returncode, done.stderr) == (0, "")
    assert exported.events == exported.checkpoint == 24
    for words in (
        f"the whole trail, tenant {tenant.slug}",
        "24, up to event 24: each gives its hash",
        "12 sealed ones held to their commitments, 12 in clear, 0 erased",
        "24 lead to the signed root over the tenant's 24 events",
        "events 1 to 24 are all there",
        "the 16 events signed at 2026-12-01T09:00:00.000000+00:00 are the first of the 24",
        f"key        {OPERATOR.key_id} is {encode(OPERATOR.public)}",
        "Nothing is wrong.",
    ):
        assert words in done.stdout


def test_one_case_verifies_and_shows_no_byte_of_others(tenant: Tenant, case: UUID, make_tenant, tmp_path: Path) -> None:
    stranger = make_tenant()
    append(stranger, case_id=uuid4(), subject=OTHER)
    seal()

    assert make(tenant, tmp_path / "out", case).events == 4
    done = offline.run(tmp_path / "out")

    assert (done.returncode, done.stderr) == (0, "")
    assert "Compare the key with the one you were given in another way." in done.stdout
    written = everything(tmp_path / "out")
    assert NAME.encode() in written
    assert OTHER.encode() not in written
    others = AuditEvent.objects.exclude(case_id=case).exclude(event_type="trail_exported")
    for event in others:
        said = [str(event.id), str(event.case_id or event.id), event.body, *strangers_ids(event, tenant)]
        assert not [text for text in said if text.encode() in written]


def strangers_ids(event: AuditEvent, tenant: Tenant) -> list[str]:
    return [] if event.tenant_id == tenant.id else [str(event.tenant_id), event.tenant.slug]


def test_what_a_cases_events_say_stands_in_its_export_as_it_was_said(
    tenant: Tenant, case: UUID, tmp_path: Path
) -> None:
    make(tenant, tmp_path / "out", case)

    shown = [json.loads(each) for each in lines(tmp_path / "out")]
    for each in shown:
        event = AuditEvent.objects.get(seal__sequence=each["sequence"], tenant=tenant)
        opened = open_event(event)
        assert json.loads(each["content"]["plaintext"]) == {"subject": NAME, "details": opened.details}
        assert each["body"] == event.body


def test_an_export_from_before_an_erasure_still_verifies(tenant: Tenant, case: UUID, tmp_path: Path) -> None:
    make(tenant, tmp_path / "before", case)
    erase(tenant, case)
    exported = make(tenant, tmp_path / "after", case)
    make(tenant, tmp_path / "whole")

    assert offline.run(tmp_path / "before").returncode == 0
    assert NAME.encode() in everything(tmp_path / "before")
    assert (exported.events, exported.erased) == (6, 4)  # beside its four: its first export, its erasure
    for folder in ("after", "whole"):
        done = offline.run(tmp_path / folder)
        assert (done.returncode, "4 erased" in done.stdout) == (0, True)
        assert NAME.encode() not in everything(tmp_path / folder)


def erase(tenant: Tenant, case_id: UUID) -> None:
    run("UPDATE audit_casekey SET key = NULL, destroyed_at = now() WHERE case_id = %s", case_id)
    append(tenant, event_type="case_erased", case_id=case_id, subject="")
    seal()


def test_an_erasure_just_after_the_checkpoint_is_in_the_export(tenant: Tenant, case: UUID, tmp_path: Path) -> None:
    from audit import export

    signed, erased = export.sign_up_to, []

    def erased_meanwhile(*given):
        found = signed(*given)
        if not erased:
            erased.append(erase(tenant, case))
        return found

    with patch.object(export, "sign_up_to", erased_meanwhile):
        exported = make(tenant, tmp_path / "out", case)

    assert (exported.events, exported.erased) == (5, 4)
    assert offline.run(tmp_path / "out").returncode == 0


def test_content_that_cannot_be_read_is_no_success(tenant: Tenant, case: UUID, tmp_path: Path) -> None:
    bypass_guards()
    run("ALTER TABLE audit_casekey DISABLE TRIGGER USER")
    run("DELETE FROM audit_casekey WHERE case_id = %s", case)

    with pytest.raises(CommandError, match="The content of 4 of them can't be read"):
        command(tenant, tmp_path / "out")

    done = offline.run(tmp_path / "out")
    assert done.returncode == 1
    assert "WRONG events.jsonl, line 1: the event's sealed content could not be shown" in done.stdout


def command(tenant: Tenant, out: Path, *more: str) -> str:
    told = StringIO()
    call_command("export_trail", "--tenant", tenant.slug, "--out", str(out), *more, stdout=told)
    return told.getvalue()


def test_an_export_is_an_event_that_knows_it_again(tenant: Tenant, case: UUID, tmp_path: Path) -> None:
    assert "4 events in" in command(tenant, tmp_path / "out", "--case", str(case))
    seal()

    event = AuditEvent.objects.get(event_type="trail_exported")
    opened = open_event(event)
    assert (event.case_id, event.actor, event.sealed) == (case, "export_trail", None)
    assert opened.details == {
        "events": 4,
        "erased": 0,
        "unreadable": 0,
        "checkpoint": 24,
        "manifest_sha256": sha256((tmp_path / "out" / "manifest.json").read_bytes()).hexdigest(),
    }
    assert verify_tenant(tenant=tenant, missing_guards=[]).broken is None


def test_an_export_that_cannot_be_recorded_is_not_left_behind(tenant: Tenant, case: UUID, tmp_path: Path) -> None:
    with patch("audit.export.record", side_effect=OSError("full")), pytest.raises(OSError, match="full"):
        make(tenant, tmp_path / "there" / "out")
    assert list((tmp_path / "there").iterdir()) == []


def test_the_newest_checkpoint_is_used_where_it_covers_all(tenant: Tenant, case: UUID, tmp_path: Path) -> None:
    write_checkpoint(tenant=tenant, at=AT)
    append(tenant)
    seal()

    assert make(tenant, tmp_path / "case", case).checkpoint == 24
    assert make(tenant, tmp_path / "whole").checkpoint == 26


def test_after_a_handing_over_the_old_key_still_leads_to_the_export(tenant, case, tmp_path: Path, settings) -> None:
    write_checkpoint(tenant=tenant, at=AT)
    settings.CHECKPOINT_KEY = encode(b"\2" * 32)
    step = hand_over(old=OPERATOR, new=THIEF, at="2026-12-01T10:00:00Z")
    checkpoints.store().write(checkpoints.KEYS, f"{THIEF.key_id}.json", json.dumps(step.as_json()).encode())
    make(tenant, tmp_path / "out", case)

    done = offline.run(tmp_path / "out", "--key", encode(OPERATOR.public))
    assert done.returncode == 0
    assert f"{THIEF.key_id} is {encode(THIEF.public)}, signed manifest.json" in done.stdout
    assert f"{OPERATOR.key_id} is {encode(OPERATOR.public)}, signed checkpoint.json" in done.stdout


def test_a_trail_longer_than_a_chunk_is_proved_over_its_chunks(tenant: Tenant, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("audit.proofs.CHUNK", 4)
    case_id = uuid4()
    for place in range(23):
        append(tenant, case_id=case_id if place in (0, 3, 4, 21, 22) else None)
        if place == 9:
            seal()
            write_checkpoint(tenant=tenant, at=AT)
    seal()
    steps: list[tuple[int, int]] = []

    assert make(tenant, tmp_path / "case", case_id, progress=lambda *step: steps.append(step)).events == 5
    assert make(tenant, tmp_path / "whole").events == 24
    assert steps == [(2, 5), (3, 5), (5, 5)]
    assert len(Prover(tenant.id, 24).chunks) == 6
    for folder in ("case", "whole"):
        assert offline.problems(verify, tmp_path / folder, OPERATOR.public) == []


REFUSED = {
    "no key": (lambda settings, tenant: setattr(settings, "CHECKPOINT_KEY", ""), "No CHECKPOINT_KEY is set"),
    "no store": (
        lambda settings, tenant: setattr(settings, "CHECKPOINT_DIR", "/proc/none"),
        "Nothing can be exported, because",
    ),
    "a hash that is another": (
        lambda settings, tenant: run("UPDATE audit_auditseal SET event_hash = sha256('x') WHERE sequence = 20"),
        "The trail is not what its checkpoint signed",
    ),
    "an event without a place": (
        lambda settings, tenant: run("DELETE FROM audit_auditseal WHERE sequence = 20"),
        "Some of its events have no place in the chain",
    ),
    "a newest checkpoint that is another": (
        lambda settings, tenant: damage(settings, tenant, 24),
        "the newest checkpoint 000000000024.json can't be continued",
    ),
    "a checkpoint before it that is another": (
        lambda settings, tenant: damage(settings, tenant, 16),
        "the checkpoint 000000000016.json doesn't hold",
    ),
    "checkpoints of a key that nobody vouches for": (
        lambda settings, tenant: setattr(settings, "CHECKPOINT_KEY", encode(b"\2" * 32)),
        f"signed with the key {OPERATOR.key_id}, which isn't trusted",
    ),
}


def damage(settings, tenant: Tenant, sequence: int) -> None:
    place = Path(settings.CHECKPOINT_DIR) / tenant.slug / f"{sequence:012}.json"
    place.write_bytes(place.read_bytes().replace(b"2026", b"2027"))


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_proved_is_not_exported(tenant: Tenant, case: UUID, settings, tmp_path: Path, what: str) -> None:
    write_checkpoint(tenant=tenant, at=AT)
    bypass_guards()
    change, words = REFUSED[what]
    change(settings, tenant)

    with pytest.raises(CannotExport, match=words):
        make(tenant, tmp_path / "there" / "out")
    assert not list((tmp_path / "there").iterdir())


@pytest.mark.django_db(transaction=True)
def test_the_application_exports_from_one_unmoving_view(
    tenant: Tenant, case: UUID, tmp_path: Path, as_application
) -> None:
    """With the rights it serves with; what comes in meanwhile is for the next export."""
    from audit.export_files import Writer

    write_keys = Writer.write_keys

    def something_comes_in(writer: Writer) -> None:
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(append_elsewhere, tenant, case).result()
        write_keys(writer)

    with as_application(), patch.object(Writer, "write_keys", something_comes_in):
        exported = make(tenant, tmp_path / "out", case)

    assert (exported.events, exported.checkpoint) == (4, 24)
    assert offline.run(tmp_path / "out").returncode == 0
    assert make(tenant, tmp_path / "later", case).events == 6  # beside it: that one's own event


def append_elsewhere(tenant: Tenant, case_id: UUID) -> None:
    try:
        append(tenant, case_id=case_id)
    finally:
        connection.close()


def test_a_case_of_another_tenant_is_not_found(tenant: Tenant, case: UUID, make_tenant, tmp_path: Path) -> None:
    stranger = make_tenant()
    append(stranger)
    seal()
    with pytest.raises(CommandError, match="has no event that is asked for"):
        command(stranger, tmp_path / "out", "--case", str(case))
    with pytest.raises(CommandError, match="There is no tenant nobody"):
        call_command("export_trail", "--tenant", "nobody", "--out", str(tmp_path / "out"))


def test_where_nothing_can_be_written_it_says_so(tenant: Tenant, case: UUID) -> None:
    with pytest.raises(CommandError, match="/dev/null/out can't be written"):
        command(tenant, Path("/dev/null/out"))


def test_it_writes_over_nothing(tenant: Tenant, case: UUID, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    make(tenant, tmp_path / "out", case)
    held = everything(tmp_path / "out")
    with pytest.raises(CannotExport, match="is there already"):
        make(tenant, tmp_path / "out")
    assert everything(tmp_path / "out") == held
