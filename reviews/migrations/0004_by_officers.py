"""Decisions and second words are officers' alone, whoever writes the row.

The person's row is held until the transaction ends: a role that is taken away in the same moment is taken away
before the decision, which is then refused, or after it.
"""

from django.db import migrations

from audit.operations import RowGuard

BY_OFFICER = """
BEGIN
    PERFORM FROM reviews_user WHERE id = NEW.{person} AND role = 'officer' AND is_active FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION '{what} is refused: the person is not an active officer'
            USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END """


# Whether two persons are asked for is no choice of who writes the row. A switch that was never set counts as on.
BY_TWO = """
BEGIN
    IF NEW.outcome = 'does_not_stand' AND NOT NEW.needs_second
       AND (SELECT two_persons FROM verifier_finding WHERE id = NEW.finding_id) IS NOT FALSE
       AND coalesce((SELECT enabled FROM verifier_switch WHERE name = 'MAKER_CHECKER_ENABLED'), true)
    THEN
        RAISE EXCEPTION 'a decision is refused: this finding is not set aside without a second officer'
            USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END """


class Migration(migrations.Migration):
    dependencies = [("reviews", "0003_standing")]
    operations = [
        RowGuard("reviews_decision", "decision_by_officer", BY_OFFICER.format(person="author_id", what="a decision")),
        RowGuard("reviews_decision", "decision_by_two", BY_TWO),
        RowGuard("reviews_approval", "approval_by_officer", BY_OFFICER.format(person="by_id", what="a second word")),
    ]
