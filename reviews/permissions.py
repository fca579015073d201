"""Who may do what. `check_can_x` refuses with a sentence, `can_x` only answers: page and guard can't differ."""

from collections.abc import Callable

from reviews.models import Decision, User
from verifier.models import Case


class Refused(Exception):
    """Not allowed, in a sentence that may be shown."""


def allows(check: Callable[[], None]) -> bool:
    try:
        check()
    except Refused:
        return False
    return True


def check_perm(user: User, permission: str, sentence: str) -> None:
    if not user.is_active:
        raise Refused("This account is not active.")
    if not user.has_perm(permission):
        raise Refused(sentence)


def check_same_tenant(user: User, tenant_id: object) -> None:
    if user.tenant_id != tenant_id:
        raise Refused("This belongs to another organisation.")


def check_can_submit_report(user: User) -> None:
    check_perm(user, "reviews.submit_report", "Officers and admins hand reports in.")


def can_submit_report(user: User) -> bool:
    return allows(lambda: check_can_submit_report(user))


def check_can_view_cases(user: User) -> None:
    check_perm(user, "reviews.view_cases", "This account may not read cases.")


def can_view_cases(user: User) -> bool:
    return allows(lambda: check_can_view_cases(user))


def check_can_view_case(user: User, case: Case) -> None:
    check_can_view_cases(user)
    check_same_tenant(user, case.tenant_id)


def can_view_case(user: User, case: Case) -> bool:
    return allows(lambda: check_can_view_case(user, case))


def check_can_view_retention(user: User, case: Case) -> None:
    check_perm(user, "audit.view_trail", "Admins and auditors see how long a case is kept.")
    check_same_tenant(user, case.tenant_id)


def check_can_request_recheck(user: User, case: Case) -> None:
    check_perm(user, "reviews.request_recheck", "Officers and admins ask for a re-check.")
    check_same_tenant(user, case.tenant_id)


def can_request_recheck(user: User, case: Case) -> bool:
    return allows(lambda: check_can_request_recheck(user, case))


def check_can_decide(user: User, case: Case) -> None:
    check_perm(user, "reviews.decide", "Only officers decide about findings.")
    check_same_tenant(user, case.tenant_id)


def can_decide(user: User, case: Case) -> bool:
    return allows(lambda: check_can_decide(user, case))


def check_can_claim(user: User, case: Case) -> None:
    check_perm(user, "reviews.decide", "Only officers take cases on.")
    check_same_tenant(user, case.tenant_id)


def can_claim(user: User, case: Case) -> bool:
    return allows(lambda: check_can_claim(user, case))


def check_can_second(user: User, decision: Decision) -> None:
    """Another officer than the author; no role is exempt."""
    check_perm(user, "reviews.decide", "Only officers approve or refuse a colleague's decision.")
    check_same_tenant(user, decision.tenant_id)
    if user.pk == decision.author_id:
        raise Refused("You decided this yourself. Another officer must approve or refuse it.")


def can_second(user: User, decision: Decision) -> bool:
    return allows(lambda: check_can_second(user, decision))


def check_can_reverse(user: User, decision: Decision) -> None:
    check_perm(user, "reviews.decide", "Only officers take decisions back.")
    check_same_tenant(user, decision.tenant_id)


def can_reverse(user: User, decision: Decision) -> bool:
    return allows(lambda: check_can_reverse(user, decision))


def check_can_administer(user: User) -> None:
    check_perm(user, "reviews.administer", "Only admins administer.")


def can_administer(user: User) -> bool:
    return allows(lambda: check_can_administer(user))


def check_can_administer_user(admin: User, user: User) -> None:
    check_can_administer(admin)
    check_same_tenant(admin, user.tenant_id)
    if admin.pk == user.pk:
        raise Refused("Another admin changes your own account.")


def can_administer_user(admin: User, user: User) -> bool:
    return allows(lambda: check_can_administer_user(admin, user))
