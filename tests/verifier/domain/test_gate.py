import pytest

from verifier.domain.answers import Cause
from verifier.domain.gate import (
    CheckedFinding,
    ReviewReason,
    correctness_needs_review,
    correctness_verdicts,
    finding_reason,
    forces_review,
)
from verifier.domain.verdicts import Verdict

CONFIRMED, CONTRADICTED = Verdict.CONFIRMED, Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("verdicts", "run_failed", "needed"),
    [
        ([], False, False),
        ([CONFIRMED, CONFIRMED], False, False),
        ([CONFIRMED, CONTRADICTED], False, True),
        ([Verdict.UNSUPPORTED], False, True),
        ([Verdict.INDETERMINATE], False, True),
        ([CONFIRMED, None], False, True),
        ([], True, True),
        ([CONFIRMED], True, True),
    ],
)
def test_one_verdict_short_of_confirmed_asks_for_review(
    verdicts: list[Verdict | None], run_failed: bool, needed: bool
) -> None:
    assert correctness_needs_review(verdicts, run_failed=run_failed) is needed


def test_the_gate_lists_verdicts_in_the_order_of_rechecks() -> None:
    checked = [
        CheckedFinding("f2", "sanctions", CONTRADICTED, Cause.SCREENING_CLEAR),
        CheckedFinding("f9", None, None, None),
        CheckedFinding("f1", "", Verdict.INDETERMINATE, Cause.UNMAPPED_TYPE),
    ]
    assert correctness_verdicts(checked) == [
        {"finding_id": "f2", "material_type": "sanctions", "verdict": "contradicted", "cause": "screening_clear"},
        {"finding_id": "f1", "material_type": None, "verdict": "indeterminate", "cause": "unmapped_type"},
    ]


@pytest.mark.parametrize(
    ("verdict", "cause", "reason"),
    [
        (None, None, ReviewReason.VERIFICATION_PENDING),
        (CONFIRMED, Cause.SCREENING_HIT, None),
        (CONFIRMED, Cause.CORROBORATED, None),
        (CONFIRMED, Cause.SCREENING_WARNING, ReviewReason.SCREENING_WARNING),
        (CONTRADICTED, Cause.SCREENING_CLEAR, ReviewReason.FINDING_CONTRADICTED),
        (Verdict.UNSUPPORTED, Cause.NO_HITS, ReviewReason.FINDING_UNSUPPORTED),
        (Verdict.INDETERMINATE, Cause.UNRECORDED, ReviewReason.FINDING_INDETERMINATE),
    ],
)
def test_a_finding_waits_for_a_reason(
    verdict: Verdict | None, cause: Cause | None, reason: ReviewReason | None
) -> None:
    assert finding_reason(verdict, cause) is reason


@pytest.mark.parametrize(
    ("structural", "advisory_only", "correctness", "forced"),
    [
        (False, False, True, True),
        (False, True, True, False),
        (False, False, False, False),
        (True, False, False, True),
        (True, True, False, True),
    ],
)
def test_only_an_enforcing_gate_forces_and_the_structural_word_stands(
    structural: bool, advisory_only: bool, correctness: bool, forced: bool
) -> None:
    assert forces_review(structural=structural, advisory_only=advisory_only, correctness=correctness) is forced
