from django.db import migrations

from audit.operations import AppendOnly, Grant, TenantIsolation

APPEND_ONLY = ["reviews_decision", "reviews_approval"]


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0001_initial"),
        ("verifier", "0002_guards"),
        ("sessions", "0001_initial"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]
    operations = [
        *[AppendOnly(table) for table in APPEND_ONLY],
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
        Grant("reviews_user", "SELECT, INSERT, UPDATE"),
        Grant("django_session", "SELECT, INSERT, UPDATE, DELETE"),
        Grant("django_content_type", "SELECT"),
        Grant("auth_permission", "SELECT"),
        Grant("auth_group", "SELECT"),
    ]
