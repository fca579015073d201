"""Taking in 100 findings, checked, selected, labelled and in the trail, against a bare insert of the same rows."""

import json
import statistics
from typing import Any
from uuid import uuid4

from django.db import transaction

from tests import factories
from tests.bench.measure import interleaved, median_ratio, report
from verifier.models import Case, Finding, Report, Verification

FINDINGS = 100


def run() -> bool:
    factories.switches()
    tenant = factories.tenant()
    kept = rows_of(factories.accept(tenant, told()).case)
    reports = [told() for _ in range(100)]
    times = interleaved(
        {"intake": lambda: factories.accept(tenant, reports.pop()), "bare": lambda: insert(copies(kept))}, cycles=20
    )
    ratio = median_ratio(times["intake"], times["bare"])
    return report(
        name="intake_of_100_findings",
        value=statistics.median(times["intake"]) * 1000,
        unit="ms",
        baseline=statistics.median(times["bare"]) * 1000,
        ratio=ratio,
        goal="<= 3",
        met=ratio <= 3,
    )


def told() -> bytes:
    findings = [
        factories.finding(f"f{at}", description="What the investigation says of it, in a sentence or two. " * 3)
        for at in range(FINDINGS)
    ]
    return json.dumps(factories.report(*findings)).encode()


def rows_of(case: Case) -> tuple[Case, Report, list[Finding], Verification]:
    case = Case.objects.get(id=case.id)
    report_row = Report.objects.get(id=case.current_report_id)
    findings = list(Finding.objects.filter(report=report_row).order_by("position"))
    return case, report_row, findings, factories.run_of(case)


def copies(rows: tuple[Case, Report, list[Finding], Verification]) -> tuple[Any, ...]:
    """The same rows under new ids."""
    case, report_row, findings, verification = (
        clone(row) if not isinstance(row, list) else [clone(one) for one in row] for row in rows
    )
    case.report_id = str(case.id)
    case.current_report_id, case.current_verification_id = report_row.id, verification.id
    report_row.case_id = verification.case_id = case.id
    report_row.event_id = uuid4()
    verification.report_id = report_row.id
    for finding in findings:
        finding.case_id, finding.report_id = case.id, report_row.id
    return case, report_row, findings, verification


def clone(row: Any) -> Any:
    values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return type(row)(**{**values, "id": uuid4()})


def insert(rows: tuple[Any, ...]) -> None:
    case, report_row, findings, verification = rows
    with transaction.atomic():
        Case.objects.bulk_create([case])
        Report.objects.bulk_create([report_row])
        Finding.objects.bulk_create(findings)
        Verification.objects.bulk_create([verification])
