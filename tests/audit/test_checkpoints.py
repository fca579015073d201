"""Signed statements outside the database: written when something is new, never over a wrong, held against the trail."""

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit import checkpoints, tasks
from audit.chain import canonical, genesis, link_hash, microseconds, read_body
from audit.checkpoints import DirectoryStore, UnreadableCheckpoint, read_checkpoint
from audit.merkle import leaf_hash, root_of
from audit.models import AuditEvent, AuditSeal, Tenant, WrittenCheckpoint
from audit.notary import NotSigned, write_checkpoint
from audit.signing import Signer, encode
from audit.verification import verify_tenant
from tests.audit.trails import AT, append_many, bypass_guards, run, seal

pytestmark = pytest.mark.django_db
SEED, OTHER_SEED = b"\x01" * 32, b"\x02" * 32


@pytest.fixture(autouse=True)
def store(settings: Any, tmp_path: Path) -> Path:
    settings.CHECKPOINT_KEY = encode(SEED)
    settings.CHECKPOINT_DIR = tmp_path / "checkpoints"
    settings.CHECKPOINT_PUBLIC_KEYS = []
    return tmp_path / "checkpoints"


def hashes(tenant: Tenant) -> list[bytes]:
    seals = AuditSeal.objects.filter(tenant=tenant).order_by("sequence")
    return [bytes(each) for each in seals.values_list("event_hash", flat=True)]


def broken(tenant: Tenant) -> tuple[str, int | None, str] | None:
    wrong = verify_tenant(tenant=tenant, missing_guards=[]).broken
    return (wrong.kind, wrong.sequence, wrong.detail) if wrong else None


# Writing


def test_it_signs_where_a_trail_stands(tenant: Tenant, store: Path) -> None:
    append_many(tenant, 5)
    made = write_checkpoint(tenant=tenant, at=AT)
    assert made is not None
    assert (made.sequence, made.head_hash) == (5, hashes(tenant)[-1])
    assert made.root == root_of(leaf_hash(each) for each in hashes(tenant))
    content = (store / tenant.slug / "000000000005.json").read_bytes()
    assert read_checkpoint(content) == made
    assert json.loads(content)["count"] == 5
    assert Signer(SEED).sign(made.message()) == made.signature
    row = WrittenCheckpoint.objects.get(tenant=tenant)
    assert (row.sequence, bytes(row.root), row.key_id) == (5, made.root, made.key_id)


def test_the_next_one_goes_on_from_the_last(tenant: Tenant) -> None:
    for count in (3, 4, 1):
        append_many(tenant, count)
        made = write_checkpoint(tenant=tenant, at=AT)
    assert made is not None
    assert made.sequence == 8
    assert made.root == root_of(leaf_hash(each) for each in hashes(tenant))


def test_nothing_new_writes_nothing(tenant: Tenant, store: Path) -> None:
    assert write_checkpoint(tenant=tenant, at=AT) is None
    append_many(tenant, 2)
    assert write_checkpoint(tenant=tenant, at=AT) is not None
    assert write_checkpoint(tenant=tenant, at=AT) is None
    assert len(list((store / tenant.slug).iterdir())) == 1, "and no draft is left behind"


def test_what_stands_in_the_store_is_never_replaced(store: Path) -> None:
    place = DirectoryStore()
    place.write("a", "1.json", b"first")
    with pytest.raises(FileExistsError):
        place.write("a", "1.json", b"second")
    assert place.read("a", "1.json") == b"first"
    assert place.names("a") == ["1.json"]
    assert (store / "a" / "1.json").stat().st_mode & 0o777 == 0o640


def test_without_a_key_nothing_is_signed_and_it_says_so(tenant: Tenant, settings: Any) -> None:
    settings.CHECKPOINT_KEY = ""
    append_many(tenant, 2)
    with pytest.raises(NotSigned, match="no CHECKPOINT_KEY is set"):
        write_checkpoint(tenant=tenant, at=AT)
    told = verify_tenant(tenant=tenant, missing_guards=[]).in_words()
    assert "No checkpoint was compared (no CHECKPOINT_KEY is set): a cut tail or an older backup can't be seen." in told


def cut_tail(tenant: Tenant) -> None:
    run("DELETE FROM audit_auditseal WHERE tenant_id = %s AND sequence > 3", tenant.id)
    run("DELETE FROM audit_auditevent e WHERE tenant_id = %s AND NOT EXISTS"
        " (SELECT FROM audit_auditseal s WHERE s.event_id = e.id)", tenant.id)  # fmt: skip
    run(
        "UPDATE audit_chainhead h SET sequence = 3, event_hash = s.event_hash, previous_hash = s.previous_hash"
        " FROM audit_auditseal s WHERE s.tenant_id = h.tenant_id AND s.sequence = 3 AND h.tenant_id = %s",
        tenant.id,
    )


def rewrite_from_genesis(tenant: Tenant) -> None:
    """A forger who owns the database and makes every hash right."""
    previous = genesis(tenant.id)
    for link in AuditSeal.objects.filter(tenant=tenant).select_related("event").order_by("sequence"):
        event = link.event
        body = canonical(read_body(event.body) | {"actor_role": "forged"})
        own = link_hash(
            previous_hash=previous,
            tenant=tenant.id.bytes,
            sequence=link.sequence,
            microseconds=microseconds(event.recorded_at),
            body=body.encode(),
        )
        run("UPDATE audit_auditevent SET body = %s WHERE id = %s", body, event.id)
        run(
            "UPDATE audit_auditseal SET previous_hash = %s, event_hash = %s WHERE event_id = %s",
            previous,
            own,
            event.id,
        )
        previous = own
    run("UPDATE audit_chainhead SET event_hash = %s WHERE tenant_id = %s", previous, tenant.id)


def put_an_older_backup_back(tenant: Tenant) -> None:
    """Everything the database held at event 3, the list of written checkpoints among it."""
    seal()
    run("ALTER TABLE audit_writtencheckpoint DISABLE TRIGGER USER")
    cut_tail(tenant)
    run("DELETE FROM audit_writtencheckpoint WHERE tenant_id = %s AND sequence > 3", tenant.id)


FORGERIES: dict[str, tuple[Callable[[Tenant], None], str, int, str]] = {
    "a cut tail": (cut_tail, "tail_cut", 4, "the tail was cut, or an older backup put back"),
    "an older backup put back": (
        put_an_older_backup_back,
        "tail_cut",
        4,
        "the tail was cut, or an older backup put back",
    ),
    "a chain rewritten from its genesis": (rewrite_from_genesis, "checkpoint_mismatch", 3, "is not the one signed at"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_the_chain_alone_cannot_show_its_checkpoints_do(tenant: Tenant, forgery: str) -> None:
    for count in (3, 3):
        append_many(tenant, count)
        write_checkpoint(tenant=tenant, at=AT)
    assert broken(tenant) is None
    bypass_guards()
    forge, kind, sequence, words = FORGERIES[forgery]
    forge(tenant)
    found = broken(tenant)
    assert found is not None
    assert found[:2] == (kind, sequence)
    assert words in found[2]
    with pytest.raises(NotSigned):
        write_checkpoint(tenant=tenant, at=AT)


def test_a_cut_tail_is_not_seen_without_checkpoints_and_that_is_said(tenant: Tenant) -> None:
    append_many(tenant, 6)
    bypass_guards()
    cut_tail(tenant)
    result = verify_tenant(tenant=tenant, missing_guards=[])
    assert result.broken is None
    assert "No checkpoint has been written yet: a cut tail or an older backup can't be seen." in result.in_words()


# What stands in the store


def change(path: Path, **values: Any) -> None:
    path.write_text(canonical(json.loads(path.read_text()) | values) + "\n")


def sign_again(path: Path, seed: bytes, **values: Any) -> None:
    """As a thief of the store would, with a key of his own."""
    signer = Signer(seed)
    told = json.loads(path.read_text()) | values | {"key_id": signer.key_id}
    del told["signature"]
    change(path, **told, signature=encode(signer.sign(canonical(told).encode())))


STORE_CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "another time": (lambda path: change(path, at="2026-01-01T00:00:00+00:00"), "its signature doesn't fit it"),
    "another count": (lambda path: change(path, count=7), "it is not as a checkpoint is written"),
    "another root": (lambda path: change(path, root="00" * 32), "its peaks don't give its root"),
    "another key": (lambda path: sign_again(path, OTHER_SEED), "which isn't trusted"),
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:-20]), "it can't be read"),
    "a space more": (lambda path: path.write_bytes(path.read_bytes() + b" "), "it is not as a checkpoint is written"),
    "under another name": (lambda path: path.rename(path.with_name("000000000002.json")), "of another place or tenant"),
    "gone": (lambda path: path.unlink(), "the checkpoint written at event 3 is gone"),
}


@pytest.mark.parametrize("name", STORE_CHANGES)
def test_a_changed_checkpoint_is_named(tenant: Tenant, store: Path, name: str) -> None:
    for count in (3, 2):
        append_many(tenant, count)
        write_checkpoint(tenant=tenant, at=AT)
    spoil, words = STORE_CHANGES[name]
    spoil(store / tenant.slug / "000000000003.json")
    found = broken(tenant)
    assert found is not None
    assert found[0] == "checkpoint_mismatch"
    assert words in found[2]


def test_another_tenants_checkpoint_does_not_count(tenant: Tenant, store: Path) -> None:
    other = Tenant.objects.create(slug="another-customer")
    for each in (tenant, other):
        append_many(each, 3)
        write_checkpoint(tenant=each, at=AT)
    place = store / tenant.slug / "000000000003.json"
    place.write_bytes((store / other.slug / "000000000003.json").read_bytes())
    found = broken(tenant)
    assert found is not None and "of another place or tenant" in found[2]


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"tenant": 1}', b"[" * 100_000])
def test_what_is_no_checkpoint_is_told(content: bytes) -> None:
    with pytest.raises(UnreadableCheckpoint):
        read_checkpoint(content)


# Keys


def test_a_key_gives_way_to_another_and_both_count(tenant: Tenant, settings: Any, tmp_path: Path) -> None:
    append_many(tenant, 3)
    write_checkpoint(tenant=tenant, at=AT)
    (tmp_path / "new").write_text(encode(OTHER_SEED))
    out = StringIO()
    call_command("checkpoint_keys", rotate=str(tmp_path / "new"), stdout=out, stderr=StringIO())
    assert set(out.getvalue().split()[::2]) == {Signer(SEED).key_id, Signer(OTHER_SEED).key_id}
    settings.CHECKPOINT_KEY = str(tmp_path / "new")
    append_many(tenant, 1)
    made = write_checkpoint(tenant=tenant, at=AT)
    assert made is not None and made.key_id == Signer(OTHER_SEED).key_id
    assert broken(tenant) is None


def test_a_key_without_a_handing_over_is_trusted_only_when_told(tenant: Tenant, settings: Any) -> None:
    append_many(tenant, 3)
    write_checkpoint(tenant=tenant, at=AT)
    settings.CHECKPOINT_KEY = encode(OTHER_SEED)
    found = broken(tenant)
    assert found is not None and "which isn't trusted" in found[2]
    settings.CHECKPOINT_PUBLIC_KEYS = [encode(Signer(SEED).public)]
    assert broken(tenant) is None


def test_rotating_without_a_key_or_to_the_same_is_refused(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "same").write_text(encode(SEED))
    with pytest.raises(CommandError, match="the key in use"):
        call_command("checkpoint_keys", rotate=str(tmp_path / "same"))
    settings.CHECKPOINT_KEY = ""
    with pytest.raises(CommandError, match="CHECKPOINT_KEY must be set"):
        call_command("checkpoint_keys", rotate=str(tmp_path / "same"))


# By the clock and at the shell


def test_one_tenants_failure_keeps_no_other_back(tenant: Tenant, store: Path) -> None:
    other = Tenant.objects.create(slug="a-first-customer")
    for each in (tenant, other):
        append_many(each, 2)
    (store / other.slug).mkdir(parents=True)
    (store / other.slug / "000000000009.json").write_text("spoiled")
    tasks.write_checkpoints()
    assert checkpoints.store().names(tenant.slug) == ["000000000002.json"]
    assert checkpoints.store().names(other.slug) == ["000000000009.json"]


def test_the_command_says_what_it_wrote(tenant: Tenant) -> None:
    append_many(tenant, 2)
    out, err = StringIO(), StringIO()
    call_command("write_checkpoints", tenant=tenant.slug, stdout=out, stderr=err)
    call_command("write_checkpoints", tenant=tenant.slug, stdout=out, stderr=err)
    first, second = out.getvalue().splitlines()
    assert f"{tenant.slug}: 2 events signed by {Signer(SEED).key_id}, kept as" in first
    assert second.endswith("nothing new since the last checkpoint.")
    with pytest.raises(CommandError, match="no tenant nobody"):
        call_command("write_checkpoints", tenant="nobody")


def test_the_result_of_the_scheduled_verification_is_an_event_of_the_trail(tenant: Tenant) -> None:
    append_many(tenant, 2)
    tasks.verify_trails()
    event = AuditEvent.objects.get(tenant=tenant, event_type="trail_verified")
    assert event.outcome == "ok"
    assert read_body(event.body)["details"]["events"] == 2
    assert AT - timedelta(days=365) < event.recorded_at
