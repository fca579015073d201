"""Events and actors in plain words, for the pages of the trail."""

from audit.models import ActorType

EVENTS = {
    "report_received": "Report taken in",
    "report_conflicted": "Report refused: other content under a known name",
    "verification_queued": "Re-check asked for",
    "verification_switched_off": "Not re-checked: the re-check is switched off",
    "verification_started": "Re-check started",
    "verification_requeued": "Re-check queued again: its worker had stopped",
    "verification_finished": "Re-check finished",
    "verification_failed": "Re-check failed",
    "finding_correctness_verified": "Finding re-checked",
    "recheck_requested": "New re-check asked for",
    "decision_recorded": "Decision recorded",
    "decision_approved": "Decision approved by a second officer",
    "decision_refused": "Decision refused by a second officer",
    "decision_reversed": "Decision reversed",
    "case_viewed": "Case read",
    "relationship_ended": "End of the relationship recorded",
    "legal_hold_set": "Legal hold set",
    "legal_hold_lifted": "Legal hold lifted",
    "case_erased": "Case erased",
    "claim_taken": "Case taken into work",
    "claim_released": "Case given back",
    "signed_in": "Signed in",
    "signed_out": "Signed out",
    "sign_in_failed": "Sign-in failed",
    "access_refused": "Access refused",
    "switch_changed": "Switch changed",
    "api_key_created": "API key created",
    "api_key_revoked": "API key revoked",
    "user_created": "Person added",
    "role_changed": "Role changed",
    "user_deactivated": "Person deactivated",
    "law_imported": "Law file handed in",
    "trail_verified": "Trail verified",
    "trail_exported": "Trail exported",
    "export_downloaded": "Export downloaded",
    "password_reset": "Password set anew by somebody else",
    "password_changed": "Password changed",
    "password_rehashed": "Password stored by a newer method",
}
OUTCOMES = {
    "confirmed": "Confirmed",
    "contradicted": "Contradicted",
    "unsupported": "Unsupported",
    "indeterminate": "Indeterminate",
    "stands": "The finding stands",
    "does_not_stand": "The finding does not stand",
    "needs_more": "More is needed",
    "escalated": "Escalated",
    "approved": "Approved",
    "refused": "Refused",
    "on": "On",
    "off": "Off",
    "imported": "Imported",
    "held": "Held",
    "ok": "Nothing is wrong",
    "broken": "Broken",
}
# Icon and word of who acted: a person, the machine by itself, a caller with a key, a timer.
ACTORS = {
    ActorType.PERSON: ("person", "person"),
    ActorType.SYSTEM: ("machine", "machine"),
    ActorType.KEY: ("key", "API key"),
    ActorType.CLOCK: ("clock", "timer"),
}


def event_in_words(event_type: str) -> str:
    return EVENTS.get(event_type) or event_type.replace("_", " ").capitalize()


def outcome_in_words(outcome: str) -> str:
    return OUTCOMES.get(outcome) or outcome.replace("_", " ").capitalize()


def actor_kind(actor_type: str) -> tuple[str, str]:
    """Icon and word; an unknown kind is shown as it is spelled."""
    return (
        ACTORS.get(ActorType(actor_type), ("question", actor_type))
        if actor_type in ActorType
        else ("question", actor_type)
    )
