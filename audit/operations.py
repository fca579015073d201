"""Migration operations for what the database itself must refuse, grant and seal."""

from typing import Any

from django.conf import settings
from django.db import migrations

GUARD_FUNCTION = """
CREATE OR REPLACE FUNCTION second_look_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: this record is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Records are kept unaltered (Regulation (EU) 2024/1624, Article 77). Append a new one.';
END $$;
"""

SEAL_EVENT = """
CREATE OR REPLACE FUNCTION second_look_seal() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head_sequence bigint;
    head_hash bytea;
    link bytea;
BEGIN
    -- The head row's lock is what orders the chain: the sequence is allocated under it, at commit.
    INSERT INTO {schema}.audit_chainhead (tenant_id, sequence, event_hash)
        VALUES (NEW.tenant_id, 0, sha256('second-look:genesis:'::bytea || uuid_send(NEW.tenant_id)))
        ON CONFLICT (tenant_id) DO NOTHING;
    SELECT sequence, event_hash INTO head_sequence, head_hash
        FROM {schema}.audit_chainhead WHERE tenant_id = NEW.tenant_id FOR UPDATE;
    link := sha256(
        head_hash || uuid_send(NEW.tenant_id) || int8send(head_sequence + 1)
        || int8send((extract(epoch FROM NEW.recorded_at) * 1000000)::bigint)
        || sha256(convert_to(NEW.body, 'UTF8'))
    );
    INSERT INTO {schema}.audit_auditseal (event_id, tenant_id, sequence, previous_hash, event_hash)
        VALUES (NEW.id, NEW.tenant_id, head_sequence + 1, head_hash, link);
    UPDATE {schema}.audit_chainhead SET sequence = head_sequence + 1, event_hash = link WHERE tenant_id = NEW.tenant_id;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER audit_event_seal AFTER INSERT ON {schema}.audit_auditevent
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION second_look_seal();
ALTER TABLE {schema}.audit_auditevent ENABLE ALWAYS TRIGGER audit_event_seal;
"""


class AppendOnly(migrations.RunSQL):
    """Refuses UPDATE, DELETE and TRUNCATE on a table for every role, replication mode included."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            GUARD_FUNCTION
            + f"""
            CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
                FOR EACH ROW EXECUTE FUNCTION second_look_refuse();
            CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
                FOR EACH STATEMENT EXECUTE FUNCTION second_look_refuse();
            ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_append_only;
            ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_truncate;
            """,
            f"DROP TRIGGER {table}_append_only ON {table}; DROP TRIGGER {table}_no_truncate ON {table};",
        )

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.table], {})


class Grant(migrations.RunSQL):
    """Gives the application role what it needs on a table, where that role exists."""

    def __init__(self, table: str, privileges: str) -> None:
        self.table, self.privileges = table, privileges
        role = settings.APPLICATION_ROLE
        super().__init__(
            f"""
            DO $$ BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
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
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; CREATE POLICY {table}_tenant ON {table} USING ({rule}) WITH CHECK ({rule});",
            f"DROP POLICY {table}_tenant ON {table}; ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;",
        )

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.table], {"also": self.also})


class SealAtCommit(migrations.RunSQL):
    """Installs the deferred trigger that gives each event its place in its tenant's chain."""

    def __init__(self, schema: str = "public") -> None:
        self.schema = schema
        super().__init__(
            SEAL_EVENT.format(schema=schema),
            "DROP TRIGGER audit_event_seal ON audit_auditevent; DROP FUNCTION second_look_seal();",
        )

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.schema], {})
