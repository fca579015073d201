"""Migration operations for what the database itself must refuse, grant and seal.

Each operation also says which triggers it promises; `audit.checks` reads that from the migrations and
asks the catalogue, so a guard can't be forgotten in a second list.
"""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import migrations

REFUSE_BODY = """
BEGIN
    RAISE EXCEPTION '% on % is refused: this record is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Records are kept unaltered (Regulation (EU) 2024/1624, Article 77). Append a new one.';
END """

STAMP_BODY = """
BEGIN
    -- The database's own clock, whatever the writer would like it to be. The writer's clock stands in the body.
    NEW.recorded_at := clock_timestamp();
    CASE coalesce(current_setting('second_look.events', true), '')
        WHEN '' THEN PERFORM set_config('second_look.events', 'one', true);
        WHEN 'one' THEN PERFORM set_config('second_look.events', 'several', true);
        ELSE NULL;
    END CASE;
    RETURN NEW;
END """

# One statement moves the head and writes the seal: the head row's lock is what orders the chain, and the
# sequence is allocated under it, at commit. The loop's second round follows the birth of a tenant's head.
# The first firing of a transaction seals all its events of the tenant in the order they were written (what is
# visible here without a seal can only be its own), and the later firings find theirs sealed. Should a clock that
# was set back hide one from it, that one's own firing seals it. Whether the transaction has one event or several is
# noted for speed alone: each event's own firing seals it, and a false note of "one" is refused or changes nothing.
SEAL_BODY = """
DECLARE
    link record;
    event record;
    ids uuid[] := '{{}}';
    previous bytea[] := '{{}}';
    hashes bytea[] := '{{}}';
    alone boolean := coalesce(current_setting('second_look.events', true), '') = 'one';
BEGIN
    IF NOT alone AND EXISTS (SELECT FROM {schema}.audit_auditseal WHERE event_id = NEW.id) THEN
        RETURN NULL;
    END IF;
    LOOP
        WITH head AS (
            UPDATE {schema}.audit_chainhead SET
                sequence = sequence + 1,
                previous_hash = event_hash,
                event_hash = sha256(
                    event_hash || uuid_send(NEW.tenant_id) || int8send(sequence + 1)
                    || int8send((extract(epoch FROM NEW.recorded_at) * 1000000)::bigint)
                    || sha256(convert_to(NEW.body, 'UTF8'))
                )
            WHERE tenant_id = NEW.tenant_id
            RETURNING sequence, previous_hash, event_hash
        )
        INSERT INTO {schema}.audit_auditseal (event_id, tenant_id, sequence, previous_hash, event_hash)
            SELECT NEW.id, NEW.tenant_id, head.sequence, head.previous_hash, head.event_hash FROM head
            RETURNING sequence, previous_hash, event_hash INTO link;
        EXIT WHEN FOUND;
        INSERT INTO {schema}.audit_chainhead (tenant_id, sequence, previous_hash, event_hash)
            VALUES (NEW.tenant_id, 0, ''::bytea, sha256('second-look:genesis:'::bytea || uuid_send(NEW.tenant_id)))
            ON CONFLICT (tenant_id) DO NOTHING;
    END LOOP;
    IF alone THEN
        RETURN NULL;
    END IF;
    FOR event IN
        SELECT e.id, e.recorded_at, e.body FROM {schema}.audit_auditevent e
        WHERE e.tenant_id = NEW.tenant_id AND e.recorded_at >= transaction_timestamp()
          AND NOT EXISTS (SELECT FROM {schema}.audit_auditseal s WHERE s.event_id = e.id)
        ORDER BY e.recorded_at, e.ctid
    LOOP
        link.sequence := link.sequence + 1;
        link.previous_hash := link.event_hash;
        link.event_hash := sha256(
            link.event_hash || uuid_send(NEW.tenant_id) || int8send(link.sequence)
            || int8send((extract(epoch FROM event.recorded_at) * 1000000)::bigint)
            || sha256(convert_to(event.body, 'UTF8'))
        );
        ids := ids || event.id;
        previous := previous || link.previous_hash;
        hashes := hashes || link.event_hash;
    END LOOP;
    IF ids <> '{{}}' THEN
        INSERT INTO {schema}.audit_auditseal (event_id, tenant_id, sequence, previous_hash, event_hash)
            SELECT one.id, NEW.tenant_id, link.sequence - cardinality(ids) + one.place, one.previous, one.hash
            FROM unnest(ids, previous, hashes) WITH ORDINALITY AS one(id, previous, hash, place);
        UPDATE {schema}.audit_chainhead
            SET sequence = link.sequence, previous_hash = link.previous_hash, event_hash = link.event_hash
            WHERE tenant_id = NEW.tenant_id;
    END IF;
    RETURN NULL;
END """

# Nobody but the owner may hang the sealing function on a table of his own and so write seals.
SEAL_AT_COMMIT = """
CREATE OR REPLACE FUNCTION second_look_stamp() RETURNS trigger LANGUAGE plpgsql AS $${stamp}$$;
CREATE OR REPLACE FUNCTION second_look_seal() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $${seal}$$;
REVOKE ALL ON FUNCTION second_look_seal() FROM PUBLIC;
CREATE TRIGGER audit_event_stamp BEFORE INSERT ON {schema}.audit_auditevent
    FOR EACH ROW EXECUTE FUNCTION second_look_stamp();
CREATE CONSTRAINT TRIGGER audit_event_seal AFTER INSERT ON {schema}.audit_auditevent
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION second_look_seal();
ALTER TABLE {schema}.audit_auditevent ENABLE ALWAYS TRIGGER audit_event_stamp;
ALTER TABLE {schema}.audit_auditevent ENABLE ALWAYS TRIGGER audit_event_seal;
"""

ROW, BEFORE, INSERT, DELETE, UPDATE, TRUNCATE = 1, 2, 4, 8, 16, 32  # bits of pg_trigger.tgtype


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger as the catalogue must show it: enabled always, without a condition, running exactly `body`."""

    name: str
    table: str
    kind: int
    function: str
    body: str


class AppendOnly(migrations.RunSQL):
    """Refuses UPDATE, DELETE and TRUNCATE on a table for every role, replication mode included."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            f"""
            CREATE OR REPLACE FUNCTION second_look_refuse() RETURNS trigger LANGUAGE plpgsql AS $${REFUSE_BODY}$$;
            CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
                FOR EACH ROW EXECUTE FUNCTION second_look_refuse();
            CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
                FOR EACH STATEMENT EXECUTE FUNCTION second_look_refuse();
            ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_append_only;
            ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_truncate;
            """,
            f"DROP TRIGGER {table}_append_only ON {table}; DROP TRIGGER {table}_no_truncate ON {table};",
        )

    def triggers(self) -> list[Trigger]:
        changes, truncation = BEFORE | ROW | UPDATE | DELETE, BEFORE | TRUNCATE
        return [
            Trigger(f"{self.table}_append_only", self.table, changes, "second_look_refuse", REFUSE_BODY),
            Trigger(f"{self.table}_no_truncate", self.table, truncation, "second_look_refuse", REFUSE_BODY),
        ]

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.table], {})


class Grant(migrations.RunSQL):
    """Gives the application role what it needs on a table and nothing else, where that role exists."""

    def __init__(self, table: str, privileges: str) -> None:
        self.table, self.privileges = table, privileges
        role = settings.APPLICATION_ROLE.replace("'", "''")
        super().__init__(
            f"""
            DO $$ BEGIN
                REVOKE ALL ON {table} FROM PUBLIC;
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}' AND rolname <> current_user) THEN
                    EXECUTE format('REVOKE ALL ON {table} FROM %I', '{role}');
                    EXECUTE format('GRANT {privileges} ON {table} TO %I', '{role}');
                END IF;
            END $$;
            """,
            migrations.RunSQL.noop,
        )

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.table, self.privileges], {})


class TenantIsolation(migrations.RunSQL):
    """Row security for the application role: rows of `app.current_tenant` only; none set, none seen.

    `*` opens all tenants (relay, worker bookkeeping); `also` names further tenants, by a SQL expression.
    The owner is not bound, which is why the application never serves as owner.
    """

    def __init__(self, table: str, also: str = "false") -> None:
        self.table, self.also = table, also
        rule = (
            "current_setting('app.current_tenant', true) = '*' "
            "OR tenant_id::text = current_setting('app.current_tenant', true) "
            f"OR {also}"
        )
        super().__init__(
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; "
            f"CREATE POLICY {table}_tenant ON {table} USING ({rule}) WITH CHECK ({rule});",
            f"DROP POLICY {table}_tenant ON {table}; ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;",
        )

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.table], {"also": self.also})


class SealAtCommit(migrations.RunSQL):
    """Installs the triggers that stamp each event with the database's clock and, at commit, give it its place
    in its tenant's chain.
    """

    def __init__(self, schema: str = "public") -> None:
        self.schema = schema
        super().__init__(
            SEAL_AT_COMMIT.format(schema=schema, stamp=STAMP_BODY, seal=self.seal_body()),
            f"""
            DROP TRIGGER audit_event_seal ON {schema}.audit_auditevent;
            DROP TRIGGER audit_event_stamp ON {schema}.audit_auditevent;
            DROP FUNCTION second_look_seal();
            DROP FUNCTION second_look_stamp();
            """,
        )

    def seal_body(self) -> str:
        return SEAL_BODY.format(schema=self.schema)

    def triggers(self) -> list[Trigger]:
        table = "audit_auditevent"
        return [
            Trigger("audit_event_stamp", table, BEFORE | ROW | INSERT, "second_look_stamp", STAMP_BODY),
            Trigger("audit_event_seal", table, ROW | INSERT, "second_look_seal", self.seal_body()),
        ]

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.schema], {})


class RowGuard(migrations.RunSQL):
    """Runs `body` before each row comes in, replication mode included; it names the schema's tables only."""

    def __init__(self, table: str, name: str, body: str, schema: str = "public") -> None:
        self.table, self.name, self.body, self.schema = table, name, body, schema
        super().__init__(
            f"""
            CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql
                SET search_path = {schema}, pg_temp AS $${body}$$;
            CREATE TRIGGER {name} BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {name}();
            ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name};
            """,
            f"DROP TRIGGER {name} ON {table}; DROP FUNCTION {name}();",
        )

    def triggers(self) -> list[Trigger]:
        return [Trigger(self.name, self.table, BEFORE | ROW | INSERT, self.name, self.body)]

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.table, self.name, self.body], {"schema": self.schema})
