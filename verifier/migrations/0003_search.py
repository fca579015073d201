"""What cases are found by, also those that were here before."""

import json
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from audit.moves import OnlyMoves
from audit.operations import Grant, TenantIsolation
from verifier.domain.findings import read_finding
from verifier.domain.search import search_text
from verifier.domain.subjects import names_of, read_subject


def of_cases_there_are(apps: Any, editor: Any) -> None:
    case_model, kept = apps.get_model("verifier", "Case"), apps.get_model("verifier", "SearchText")
    for case in case_model.objects.all().iterator():
        texts = [case.report_id, case.subject_name]
        for subject in case.reports.order_by("iteration").values_list("subject", flat=True):
            texts += names_of(read_subject(json.loads(subject)))
        for content in case.findings.order_by("report__iteration", "position").values_list("content", flat=True):
            finding = read_finding(json.loads(content))
            texts += [finding.title, finding.description, finding.target or ""]
        kept.objects.create(case=case, tenant_id=case.tenant_id, text=search_text(texts))


# What a case was found by it is found by for good, until it is erased: then its reference is left, the first line.
GROWN_OR_FORGOTTEN = """
    starts_with(NEW.text, OLD.text)
    OR NEW.text = split_part(OLD.text, E'\\n', 1)
       AND EXISTS (SELECT FROM audit_casekey WHERE case_id = OLD.case_id AND key IS NULL)
"""


class Migration(migrations.Migration):
    dependencies = [("verifier", "0002_guards")]
    operations = [
        migrations.CreateModel(
            name="SearchText",
            fields=[
                (
                    "case",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="search_text",
                        serialize=False,
                        to="verifier.case",
                    ),
                ),
                ("text", models.TextField()),
                (
                    "tenant",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="audit.tenant"),
                ),
            ],
        ),
        migrations.RunPython(of_cases_there_are, migrations.RunPython.noop),
        OnlyMoves(
            "verifier_searchtext",
            fixed=["case_id", "tenant_id"],
            rule=GROWN_OR_FORGOTTEN,
        ),
        Grant("verifier_searchtext", "SELECT, INSERT, UPDATE"),
        TenantIsolation("verifier_searchtext"),
    ]
