"""The reports of a case, and what each says otherwise than the one before it: counted by the database, told in full."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce, Length

from verifier.domain.changes import Change, Told, changes, fields_changed
from verifier.domain.json_text import load, members
from verifier.models import Case, Finding, Report

# What the rules of `domain.changes` look at: findings alike in all of these need not be read.
COMPARED = (
    *("finding_id", "content_sha256", "claim_sha256", "severity", "severity_rank"),
    *("selected", "material_type", "lane", "two_persons", "sources"),
)
COLUMNS = ["id", *(each.name for each in fields(Told) if each.name != "row")]
UNCOUNTED = -1  # without labels; a database finds no two nulls equal
COUNT = """
SELECT pair.newer, told.* FROM unnest(%s::uuid[], %s::uuid[]) AS pair(older, newer) CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE new.id IS NULL),
        count(*) FILTER (WHERE new.severity_rank > old.severity_rank),
        count(*) FILTER (WHERE old.selected AND NOT new.selected),
        count(*) FILTER (WHERE old.lane = 'subject' AND new.lane <> 'subject'),
        count(*) FILTER (WHERE new.claim_sha256 <> old.claim_sha256 AND new.lane = old.lane),
        count(*) FILTER (WHERE new.severity_rank < old.severity_rank),
        count(*) FILTER (WHERE old.id IS NULL),
        count(*) FILTER (WHERE new.content_sha256 <> old.content_sha256)
    FROM (SELECT * FROM verifier_finding WHERE report_id = pair.older) AS old
    FULL JOIN (SELECT * FROM verifier_finding WHERE report_id = pair.newer) AS new USING (finding_id)
) AS told
"""


@dataclass(frozen=True, slots=True)
class Step:
    """From one report to the next one that came, counted."""

    before: Report
    after: Report
    gone: int
    lowered: int
    undriven: int  # drove a decision before and doesn't now
    candidates: int  # said of the subject before, of a candidate by name now
    otherwise: int  # says it of someone else, or says a thing of another kind
    raised: int
    new: int
    reworded: int  # the text of the finding is another one, whatever else changed

    @property
    def turned_advisory(self) -> bool:
        return self.after.advisory_only and not self.before.advisory_only

    @property
    def review_lifted(self) -> bool:
        return self.before.forces_review and not self.after.forces_review

    @property
    def says_less(self) -> bool:
        counted = self.gone or self.lowered or self.undriven or self.candidates or self.otherwise
        return bool(counted) or self.turned_advisory or self.review_lifted


def reports_of(case: Case) -> "QuerySet[Any]":
    """Newest first, each with its `size` in bytes and without the bytes."""
    reports = Report.objects.filter(case=case, tenant_id=case.tenant_id)
    return reports.annotate(size=Length("content")).defer("content", "subject", "quality_gate").order_by("-iteration")


def steps(reports: Sequence[Report]) -> list[Step]:
    """Between each two neighbours of reports that are given newest first; one query for all."""
    pairs = list(zip(reports[1:], reports[:-1], strict=True))
    if not pairs:
        return []
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [[older.id for older, _ in pairs], [newer.id for _, newer in pairs]])
        counted = {row[0]: row[1:] for row in cursor.fetchall()}
    return [Step(older, newer, *counted[newer.id]) for older, newer in pairs]


def findings_changed(before: Report, after: Report) -> list[Change]:
    return changes(
        told_otherwise(before, after),
        told_otherwise(after, before),
        subject_before=subject_name(before),
        subject_after=subject_name(after),
    )


def told_otherwise(mine: Report, other: Report) -> Iterator[Told]:
    """The findings of one report that the other doesn't tell in the same way."""
    alike = counted(other).filter(**{name: OuterRef(name) for name in COMPARED})
    return (Told(*row) for row in counted(mine).filter(~Exists(alike)).values_list(*COLUMNS))


def counted(report: Report) -> "QuerySet[Any]":
    return Finding.objects.filter(report_id=report.id).alias(sources=Coalesce("corroboration_count", UNCOUNTED))


def subject_name(report: Report) -> str:
    return str(load(report.subject)["name"])


def top_level(report: Report) -> dict[str, str]:
    """The raw JSON texts of the report's own keys."""
    return dict(members(bytes(report.content).decode()))


def fields_otherwise(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, ...]]:
    def values(told: dict[str, str]) -> dict[str, Any]:
        return {key: load(raw) for key, raw in told.items() if key != "findings"}

    return fields_changed(values(before), values(after))
