"""What goes wrong around checkpoints is named or waited out: it neither stops a verification nor passes for sound."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from audit import checkpoints, notary
from audit.checkpoints import DirectoryStore
from audit.models import AuditEvent, Tenant, WrittenCheckpoint
from audit.notary import NotSigned, write_checkpoint
from audit.signing import encode
from audit.verification import verify_tenant
from tests.audit.trails import AT, append, append_many, bypass_guards, event_id_at, run, seal

pytestmark = pytest.mark.django_db
SEED = b"\x01" * 32


@pytest.fixture(autouse=True)
def store(settings: Any, tmp_path: Path) -> Path:
    settings.CHECKPOINT_KEY = encode(SEED)
    settings.CHECKPOINT_DIR = tmp_path / "checkpoints"
    settings.CHECKPOINT_PUBLIC_KEYS = []
    return tmp_path / "checkpoints"


def broken(tenant: Tenant) -> tuple[str, int | None, str] | None:
    wrong = verify_tenant(tenant=tenant, missing_guards=[]).broken
    return (wrong.kind, wrong.sequence, wrong.detail) if wrong else None


def checkpointed(tenant: Tenant, *counts: int) -> None:
    for count in counts:
        append_many(tenant, count)
        assert write_checkpoint(tenant=tenant, at=AT) is not None


# What can't be read or compared


def test_a_checkpoint_that_can_not_be_opened_is_named_and_the_rest_is_verified(tenant: Tenant, store: Path) -> None:
    checkpointed(tenant, 3, 2)
    (store / tenant.slug / "000000000003.json").unlink()
    (store / tenant.slug / "000000000003.json").mkdir()

    found = broken(tenant)

    assert found is not None
    assert found[:2] == ("checkpoint_mismatch", 3)
    assert "it can't be read (IsADirectoryError)" in found[2]
    append_many(tenant, 1)
    assert write_checkpoint(tenant=tenant, at=AT) is not None, "the newest one is sound: it goes on from there"


def take_the_key(settings: Any, store: Path) -> None:
    settings.CHECKPOINT_KEY = ""
    for file in store.rglob("*.json"):
        file.unlink()


def spoil_the_key(settings: Any, store: Path) -> None:
    settings.CHECKPOINT_KEY = str(store / "no-such-key")


def put_a_file_in_the_folders_place(settings: Any, store: Path) -> None:
    settings.CHECKPOINT_DIR = next(store.rglob("*.json"))


@pytest.mark.parametrize("lose", [take_the_key, spoil_the_key, put_a_file_in_the_folders_place])
def test_checkpoints_that_were_written_and_can_not_be_compared_are_no_pass(
    tenant: Tenant, settings: Any, store: Path, lose: Callable[[Any, Path], None]
) -> None:
    checkpointed(tenant, 3)
    lose(settings, store)

    found = broken(tenant)

    assert found is not None
    assert found[:2] == ("checkpoint_mismatch", 3)
    assert "written" in found[2]


# A store and a trail that both move on


class Busy(DirectoryStore):
    """In which another process writes a checkpoint just before, or just after, the names are told."""

    before: Callable[[], None] | None = None
    after: Callable[[], None] | None = None

    def names(self, folder: str) -> list[str]:
        begin, end, Busy.before, Busy.after = Busy.before, Busy.after, None, None
        if begin and folder != checkpoints.KEYS:
            begin()
        told = super().names(folder)
        if end and folder != checkpoints.KEYS:
            end()
        return told


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_checkpoint_written_meanwhile_is_not_taken_for_a_cut_tail_or_a_loss(
    tenant: Tenant, settings: Any, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    append(tenant)
    write_checkpoint(tenant=tenant, at=AT)
    settings.CHECKPOINT_STORE = f"{__name__}.Busy"
    monkeypatch.setattr(Busy, "before", None)
    monkeypatch.setattr(checkpoints, "store", Busy)
    monkeypatch.setattr(checkpoints, "handed_over", lambda place: iter(()))

    def by_another_process() -> None:
        def work() -> None:
            try:
                append(tenant)
                assert write_checkpoint(tenant=tenant, at=AT) is not None
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as other:
            other.submit(work).result()

    monkeypatch.setattr(Busy, moment, by_another_process)

    assert broken(tenant) is None
    assert WrittenCheckpoint.objects.filter(tenant=tenant).count() == 2


def test_a_tenant_called_as_the_folder_of_keys_once_was_is_a_tenant_like_others(make_tenant: Any) -> None:
    for slug in ("keys", "signing_keys"):
        tenant = make_tenant(slug)
        checkpointed(tenant, 2)
        checkpoints.store().write(checkpoints.KEYS, f"{slug}.json", b"{}")
        assert broken(tenant) is None
    with pytest.raises(Exception, match="slug"):
        Tenant(slug=checkpoints.KEYS).full_clean()


# What is signed


def test_a_checkpoint_kept_by_a_process_that_died_before_it_was_listed_is_listed_later(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_many(tenant, 2)
    with monkeypatch.context() as dying:
        dying.setattr(notary, "note", lambda *told: None)
        write_checkpoint(tenant=tenant, at=AT)
    assert not WrittenCheckpoint.objects.filter(tenant=tenant).exists()

    assert write_checkpoint(tenant=tenant, at=AT) is None

    row = WrittenCheckpoint.objects.get(tenant=tenant)
    assert (row.sequence, row.written_at) == (2, AT)


def test_a_head_that_names_another_hash_than_the_last_events_is_not_signed(tenant: Tenant, store: Path) -> None:
    append_many(tenant, 2)
    bypass_guards()
    run("UPDATE audit_chainhead SET event_hash = sha256(event_hash) WHERE tenant_id = %s", tenant.id)

    with pytest.raises(NotSigned, match="head"):
        write_checkpoint(tenant=tenant, at=AT)

    assert checkpoints.store().names(tenant.slug) == []


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_a_trail_is_held_against_every_checkpoint_wherever_batches_of_events_end(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    for module in ("walk", "merkle"):
        monkeypatch.setattr(f"audit.{module}.BATCH", batch)
    checkpointed(tenant, 3, 1, 5, 4)
    append_many(tenant, 6)
    assert verify_tenant(tenant=tenant, missing_guards=[]).signed_until == 13
    assert broken(tenant) is None

    bypass_guards()
    run("UPDATE audit_auditseal SET event_hash = sha256(event_hash) WHERE tenant_id = %s", tenant.id)
    with pytest.raises(NotSigned):
        write_checkpoint(tenant=tenant, at=AT)


# What the quick pass must not take for sound, and what must not stop it


@pytest.mark.parametrize("time", ["'infinity'", "'-infinity'", "'294276-12-31'", "NULL"])
def test_an_impossible_time_is_named(tenant: Tenant, time: str) -> None:
    append_many(tenant, 3)
    bypass_guards()
    run("ALTER TABLE audit_auditevent ALTER recorded_at DROP NOT NULL")
    run(f"UPDATE audit_auditevent SET recorded_at = {time} WHERE id = %s", event_id_at(tenant, 2))

    found = broken(tenant)

    assert found is not None
    assert found[:2] == ("payload_changed", 2)


EMPTIED = [("auditevent", "body"), ("auditseal", "event_hash"), ("auditseal", "previous_hash")]


@pytest.mark.parametrize(("table", "column"), EMPTIED)
def test_an_emptied_column_is_named(tenant: Tenant, table: str, column: str) -> None:
    append_many(tenant, 3)
    bypass_guards()
    place = event_id_at(tenant, 2)
    run(f"ALTER TABLE audit_{table} ALTER {column} DROP NOT NULL")
    run(f"UPDATE audit_{table} SET {column} = NULL WHERE {'id' if column == 'body' else 'event_id'} = %s", place)

    found = broken(tenant)

    assert found is not None
    assert found[1] == 2


NESTED = {
    "case_id": "11111111-1111-4111-8111-111111111111",
    "actor_type": "system",
    "event_type": "case_read",
    "outcome": "off",
    "subject": "another",
}


@pytest.mark.parametrize("column", NESTED)
def test_a_column_changed_to_what_the_details_say_under_the_same_name_is_named(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """The event's own words do not stand for its columns, not even where they repeat a whole body."""
    clear = {"event_type": "switch_changed", "subject": "a switch", "outcome": "on"}
    monkeypatch.setitem(vars(AuditEvent._meta.pk), "_get_default", lambda: UUID(int=7))
    whole = {"app_at": "", "details": {}, "event_id": str(UUID(int=7)), "tenant_id": str(tenant.id), "v": 2}
    append(tenant, **clear, details={"actor": "m.tamm", "actor_role": "x"} | whole | NESTED)
    seal()
    assert broken(tenant) is None
    bypass_guards()
    run(f"UPDATE audit_auditevent SET {column} = %s WHERE tenant_id = %s", NESTED[column], tenant.id)

    found = broken(tenant)

    assert found is not None
    assert found == ("payload_changed", 1, f"the column {column} disagrees with the content")
