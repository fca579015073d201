from django.db import migrations

from audit.moves import AppendOnlyUntilErased, OfKeptCase, OnlyMoves
from audit.operations import Grant, TenantIsolation

APPEND_ONLY = ["reviews_decision", "reviews_approval"]
# What takes the place of people's words when the case is erased (`manage.py erase_case`).
BLANK_DECISION = {"reason": "'Erased after its retention.'", "evidence": "'[\"erased\"]'"}
BLANK_APPROVAL = {"reason": "'Erased after its retention.'"}
OF_DECISION = "(SELECT case_id FROM reviews_decision WHERE id = OLD.decision_id)"


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0001_initial"),
        ("verifier", "0002_guards"),
        ("sessions", "0001_initial"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]
    operations = [
        AppendOnlyUntilErased("reviews_decision", blanks=BLANK_DECISION),
        AppendOnlyUntilErased("reviews_approval", blanks=BLANK_APPROVAL, case=OF_DECISION),
        OfKeptCase("reviews_decision"),
        OfKeptCase("reviews_approval", case="(SELECT case_id FROM reviews_decision WHERE id = NEW.decision_id)"),
        *[Grant(table, "SELECT, INSERT") for table in APPEND_ONLY],
        *[TenantIsolation(table) for table in APPEND_ONLY],
        Grant("reviews_claim", "SELECT, INSERT, UPDATE, DELETE"),
        TenantIsolation("reviews_claim"),
        # An approval names its decision together with that decision's author: nobody can approve under another author.
        migrations.RunSQL(
            """
            ALTER TABLE reviews_approval ADD CONSTRAINT approval_of_its_author
                FOREIGN KEY (decision_id, decision_author_id) REFERENCES reviews_decision (id, author_id);
            """,
            "ALTER TABLE reviews_approval DROP CONSTRAINT approval_of_its_author;",
        ),
        # Whose decisions are whose hangs on it.
        OnlyMoves(
            "reviews_user", fixed=["id", "tenant_id", "username", "display_name", "trained_at", "created_at"], rule="true"
        ),
        Grant("reviews_user", "SELECT, INSERT, UPDATE"),
        Grant("django_session", "SELECT, INSERT, UPDATE, DELETE"),
        Grant("django_content_type", "SELECT"),
        Grant("auth_permission", "SELECT"),
        Grant("auth_group", "SELECT"),
    ]
