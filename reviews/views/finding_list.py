"""The list of a case's findings, a page at a time: the same few queries for five findings and for twenty thousand."""

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import F
from django.urls import reverse

from reviews.models import Standing
from reviews.views.finding_rows import Row, row
from verifier.models import Case, Finding, FindingVerdict

PAGE = 100
LIST = "list"  # the list's page in the address


@dataclass(frozen=True, slots=True)
class FindingList:
    """One page of the list."""

    rows: list[Row]
    number: int
    pages: int
    total: int
    first: int  # the place of its first row, from 1
    gone: int  # how many only an earlier report holds; they come last
    previous: str = ""
    next: str = ""
    to_gone: str = ""  # where they begin, if that is another page

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1


class Findings:
    """The findings of a case: the newest report's, the re-checked first, then what only an earlier report holds."""

    def __init__(self, case: Case) -> None:
        self.case = case
        assert case.current_report_id is not None, "a case is saved together with its first report"
        self.current = Finding.objects.filter(report_id=case.current_report_id).order_by(
            F("recheck_position").asc(nulls_last=True), "position"
        )
        left_behind = Standing.objects.filter(case=case, tenant_id=case.tenant_id, current=False)
        self.gone = (
            Finding.objects.filter(id__in=left_behind.values("finding_id"))
            .select_related("report")
            .defer("report__content")
            .order_by("-report__iteration", "position")
        )
        self.told = self.current.count()
        self.left = self.gone.count()

    @property
    def total(self) -> int:
        return self.told + self.left

    def part(self, start: int, size: int) -> list[Finding]:
        """In the order of the list, with all that the report says of each."""
        found = list(self.current.select_related("report").defer("report__content")[start : start + size])
        missing = size - len(found)
        if missing and self.left:
            begin = max(0, start - self.told)
            found += self.gone[begin : begin + missing]
        return found

    def place(self, finding: Finding) -> int:
        """From 0."""
        if finding.report_id != self.case.current_report_id:
            ids = list(self.gone.values_list("id", flat=True))
            return self.told + ids.index(finding.id)
        before = self.current.order_by()
        if finding.recheck_position is not None:
            return before.filter(recheck_position__lt=finding.recheck_position).count()
        checked = before.filter(recheck_position__isnull=False).count()
        return checked + before.filter(recheck_position=None, position__lt=finding.position).count()

    def find(self, finding_id: str) -> Finding | None:
        """One of the list by its id; another case's, or one that no page lists, is none."""
        try:
            wanted = UUID(finding_id)
        except ValueError:
            return None
        one = Finding.objects.select_related("report").defer("report__content")
        found = one.filter(id=wanted, case=self.case, tenant_id=self.case.tenant_id).first()
        if found is None or found.report_id == self.case.current_report_id:
            return found
        return found if self.gone.filter(id=wanted).exists() else None


def read_list(
    found: Findings, in_view: Finding | None, asked: str, query: dict[str, str], size: int = PAGE
) -> FindingList:
    """The page asked for, else the one that holds the finding in view. `query`: what every link keeps."""
    pages = max(1, -(-found.total // size))
    if asked.isascii() and asked.isdigit() and len(asked) < 7:
        number = min(max(int(asked), 1), pages)
    else:
        number = found.place(in_view) // size + 1 if in_view and pages > 1 else 1
    start = (number - 1) * size
    rows = rows_of(found.case, found.part(start, size), in_view, urlencode(query))
    first_gone = found.told // size + 1
    return FindingList(
        rows=rows,
        number=number,
        pages=pages,
        total=found.total,
        first=start + 1,
        gone=found.left,
        previous=address(found.case, in_view, number - 1, query) if number > 1 else "",
        next=address(found.case, in_view, number + 1, query) if number < pages else "",
        to_gone=address(found.case, in_view, first_gone, query) if found.left and first_gone > number else "",
    )


def rows_of(case: Case, findings: list[Finding], in_view: Finding | None, query: str) -> list[Row]:
    standing = standings_of(case, findings)
    verdicts = verdicts_in_force(standing)
    return [row(one, standing.get(one.id), verdicts, in_view, query, case) for one in findings]


def standings_of(case: Case, findings: list[Finding]) -> dict[UUID, Standing]:
    """By finding row, of these alone."""
    ids = [one.id for one in findings]
    told = Standing.objects.filter(case=case, tenant_id=case.tenant_id, finding_id__in=ids)
    return {one.finding_id: one for one in told.select_related("run", "decision__author")}


def verdicts_in_force(standing: dict[UUID, Standing]) -> dict[UUID, FindingVerdict]:
    """By their ids, each without its evidence."""
    ids = [one.verdict_row_id for one in standing.values() if one.verdict_row_id]
    return FindingVerdict.objects.defer("evidence").in_bulk(ids)


def address(case: Case, in_view: Finding | None, number: int, query: dict[str, str]) -> str:
    kept = ({"finding": str(in_view.id)} if in_view else {}) | {LIST: str(number)} | query
    return f"{reverse('case', args=[case.id])}?{urlencode(kept)}#findings"
