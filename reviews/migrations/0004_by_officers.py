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


class Migration(migrations.Migration):
    dependencies = [("reviews", "0003_standing")]
    operations = [
        RowGuard("reviews_decision", "decision_by_officer", BY_OFFICER.format(person="author_id", what="a decision")),
        RowGuard("reviews_approval", "approval_by_officer", BY_OFFICER.format(person="by_id", what="a second word")),
    ]
