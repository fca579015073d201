"""Migration operations for guards that let one thing through: a row moves on, or is blanked when its case is erased.

Everything else is refused to every role, as by `audit.operations.AppendOnly`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import migrations

from audit.operations import BEFORE, DELETE, REFUSE_BODY, ROW, TRUNCATE, UPDATE, RowGuard, Trigger

REFUSAL = """RAISE EXCEPTION '% on % is refused: {why}', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Records are kept unaltered (Regulation (EU) 2024/1624, Article 77). Append a new one.';"""
BODY = """
BEGIN
    IF TG_OP = 'UPDATE' AND ({allowed}) THEN
        RETURN NEW;
    END IF;
    {refusal}
END """
# The owner, once the case's key is destroyed, may put these values in place of the text and change nothing else.
BLANKED = """pg_get_userbyid((SELECT relowner FROM pg_class WHERE oid = TG_RELID)) = current_user
        AND EXISTS (SELECT FROM audit_casekey WHERE case_id = {case} AND key IS NULL)
        AND to_jsonb(NEW) - '{{{names}}}'::text[] = to_jsonb(OLD) - '{{{names}}}'::text[]
        AND {values}"""

OF_KEPT_CASE = """
BEGIN
    IF EXISTS (SELECT FROM audit_casekey WHERE case_id = {case} AND key IS NULL) THEN
        RAISE EXCEPTION '% on % is refused: the case has been erased', TG_OP, TG_TABLE_NAME
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END """


class Guard(migrations.RunSQL):
    """A trigger function of the table's own before UPDATE and DELETE; TRUNCATE is refused."""

    def __init__(self, table: str, suffix: str, allowed: str, why: str) -> None:
        self.table, self.name = table, f"{table}_{suffix}"
        self.body = BODY.format(allowed=allowed, refusal=REFUSAL.format(why=why))
        super().__init__(
            f"""
            CREATE OR REPLACE FUNCTION second_look_refuse() RETURNS trigger LANGUAGE plpgsql AS $${REFUSE_BODY}$$;
            CREATE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql
                SET search_path = public, pg_temp AS $${self.body}$$;
            CREATE TRIGGER {self.name} BEFORE UPDATE OR DELETE ON {table}
                FOR EACH ROW EXECUTE FUNCTION {self.name}();
            CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
                FOR EACH STATEMENT EXECUTE FUNCTION second_look_refuse();
            ALTER TABLE {table} ENABLE ALWAYS TRIGGER {self.name};
            ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_truncate;
            """,
            f"DROP TRIGGER {self.name} ON {table}; DROP TRIGGER {table}_no_truncate ON {table};"
            f" DROP FUNCTION {self.name}();",
        )

    def triggers(self) -> list[Trigger]:
        changes, truncation = BEFORE | ROW | UPDATE | DELETE, BEFORE | TRUNCATE
        return [
            Trigger(self.name, self.table, changes, self.name, self.body),
            Trigger(f"{self.table}_no_truncate", self.table, truncation, "second_look_refuse", REFUSE_BODY),
        ]


def blanked(blanks: Mapping[str, str], case: str) -> str:
    values = "\n        AND ".join(f"NEW.{column} = {value}" for column, value in blanks.items())
    return BLANKED.format(case=case, names=",".join(blanks), values=values)


class OfKeptCase(RowGuard):
    """Lets no further row in once its case is erased. `case` is SQL over NEW for the id of that case."""

    def __init__(self, table: str, case: str = "NEW.case_id") -> None:
        self.case = case
        super().__init__(table, f"{table}_of_kept_case", OF_KEPT_CASE.format(case=case))

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.table], {"case": self.case})


class AppendOnlyUntilErased(Guard):
    """As `AppendOnly`, except that `blanks` (column to SQL value) may be put in place when the row's case is erased.

    `case` is SQL over OLD for the id of that case.
    """

    def __init__(self, table: str, *, blanks: Mapping[str, str], case: str = "OLD.case_id") -> None:
        self.blanks, self.case = dict(blanks), case
        super().__init__(table, "append_only", blanked(blanks, case), "this record is append-only")

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return (self.__class__.__name__, [self.table], {"blanks": self.blanks, "case": self.case})


class OnlyMoves(Guard):
    """Lets a row change as `rule` (SQL over OLD and NEW) allows; the columns of `fixed` never change besides.

    `blanks` as in `AppendOnlyUntilErased`.
    """

    def __init__(
        self,
        table: str,
        *,
        fixed: Sequence[str],
        rule: str,
        blanks: Mapping[str, str] | None = None,
        case: str = "OLD.case_id",
    ) -> None:
        self.fixed, self.rule, self.blanks, self.case = list(fixed), rule, dict(blanks or {}), case
        unchanged = [f"NEW.{column} IS NOT DISTINCT FROM OLD.{column}" for column in fixed]
        allowed = "\n        AND ".join([*unchanged, f"({rule})"])
        if blanks:
            allowed += f"\n        OR {blanked(blanks, case)}"
        super().__init__(table, "moves", allowed, "what stands there does not change so")

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        given = {"fixed": self.fixed, "rule": self.rule, "blanks": self.blanks, "case": self.case}
        return (self.__class__.__name__, [self.table], given)
