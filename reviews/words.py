"""Codes in plain words, once for every page. A code that stands in no table is shown with its underscores as spaces."""

VERDICTS = {
    "contradicted": "Contradicted",
    "unsupported": "Unsupported",
    "indeterminate": "Indeterminate",
    "confirmed": "Confirmed",
    "pending": "Being re-checked",
    "none": "Not checked",
}
CASE_REASONS = {"verification_failed": "The re-check broke off", "structural_gate": "The report's own gate"}
HOLDERS = {"nobody": "by nobody", "mine": "by you", "others": "by others"}
STAGES = {
    "undecided": "nobody has decided",
    "second": "waits for a second officer",
    "needs_more": "more was asked for",
    "escalated": "escalated",
    "reopened": "decided before, open again",
}
CORROBORATION = {"corroborated": "corroborated", "uncorroborated": "uncorroborated", "unlabelled": "without labels"}
DEFINITIONS = {
    "confirmed": "The live source answered and backs the claim: a hit on the list, or a text that states this claim.",
    "contradicted": "The live source answered and does not hold what the report says it holds.",
    "unsupported": "The search was answered, and nothing it found states this claim. That is no evidence against it.",
    "indeterminate": "The re-check could not run or was not answered. Nothing is known, so it is never a pass.",
}
CAUSES = {
    "screening_hit": "The list holds this subject.",
    "screening_warning": "The list holds a match that a person must compare.",
    "screening_clear": "The list does not hold this hit.",
    "near_miss": "The list holds only near misses.",
    "other_listing": "The list holds the subject, but not under sanctions.",
    "corroborated": "A source found today states this claim.",
    "no_hits": "The search found nothing.",
    "not_corroborated": "Nothing that was found states this claim.",
    "judge_failed": "Texts were found, but the judge gave no usable answer.",
    "judge_not_configured": "Texts were found, but no judge is configured to read them.",
    "provider_error": "The provider did not answer.",
    "provider_timeout": "The provider did not answer in time.",
    "provider_not_configured": "No provider is configured for this kind of claim.",
    "quota": "The provider's quota is used up.",
    "unmapped_type": "There is no re-check for this kind of finding.",
    "over_cap": "The run had reached its limit of re-checks.",
    "deadline": "The run had no time left.",
    "capacity": "No slot was free at the provider in time.",
    "unrecorded": "The run ended without a recorded verdict.",
    "stopped": "The re-check was switched off while it ran.",
    "unanswered_query": "The provider answered another question than the one asked.",
}
FAILURES = {
    "provider_error": "did not answer",
    "provider_timeout": "did not answer in time",
    "provider_not_configured": "is not configured",
    "quota": "refused: its quota is used up",
    "capacity": "had no free slot in time",
    "unanswered_query": "answered another question than the one asked",
}
SELECTION = {
    "severity": "checked because of its severity",
    "material_type": "checked because of what it claims",
    "not_selected_clean": "not checked: the report itself calls it clear or minor",
    "not_selected_network": "not checked: about the network around the subject",
    "not_selected_coverage": "not checked: it marks a gap in the report's own coverage",
    "not_selected_other": "not checked: neither severe nor an adverse claim",
}
MATERIAL = {
    "sanctions": "Sanctions",
    "criminal": "Criminal proceedings",
    "enforcement": "Enforcement",
    "regulatory_action": "Regulatory action",
    "adverse_media": "Adverse media",
}
PROVIDERS = {
    "opensanctions": "OpenSanctions",
    "tavily": "Tavily",
    "exa": "Exa",
    "brightdata": "Bright Data",
    "brightdata_serp": "Bright Data",
    "brightdata serp": "Bright Data",
    "adverse media": "Adverse media search",
}
OUTCOMES = {
    "stands": "The finding stands",
    "does_not_stand": "The finding does not stand",
    "needs_more": "More is needed",
    "escalated": "Escalated",
}
KINDS = {
    "agree": "agrees with the verdict",
    "override": "overrides the verdict",
    "ask_for_more": "asks for more",
    "escalate": "escalates",
}
OWN_JUDGEMENT = "an officer's own judgement: the re-check neither bears the finding out nor refutes it"


def beside_verdict(kind: str, verdict: str) -> str:
    """What a decision of this kind does to a verdict, where there is anything to agree with."""
    if kind not in {"agree", "override"}:
        return ""
    return KINDS[kind] if verdict in {"confirmed", "contradicted"} else OWN_JUDGEMENT


STATUSES = {
    "effective": "in effect",
    "awaiting_second": "waits for a second officer",
    "reversed": "no longer counts",
}
RUNS = {
    "queued": "waiting to start",
    "running": "running",
    "finished": "finished",
    "failed": "failed",
}
LANES = {
    "subject": "the verified subject",
    "unverified_candidate": "a candidate by name only, not verified to be the subject",
}
ASPECTS = {
    "gone": "Gone",
    "severity_lowered": "Severity lowered",
    "no_longer_driving": "No longer drives a decision",
    "hit_withdrawn": "Says less of a hit",
    "candidate_only": "Only about a candidate by name now",
    "no_second_officer": "No longer needs a second officer",
    "other_target": "About someone else",
    "other_kind": "Another kind of claim",
    "less_corroborated": "Fewer sources say it",
    "source_gone": "Source gone",
    "title": "Title changed",
    "description": "Description changed",
    "severity_reworded": "Severity in another word",
    "source_changed": "Source changed",
    "other_key": "Changed",
    "severity_raised": "Severity raised",
    "now_driving": "Now drives a decision",
    "hit_claimed": "Says more of a hit",
    "verified_subject": "About the verified subject now",
    "second_officer": "Now needs a second officer",
    "more_corroborated": "More sources say it",
    "source_added": "Source added",
    "new": "New",
}
ROLES = {"officer": "Officer", "admin": "Admin", "auditor": "Auditor"}
ENTITIES = {"company": "Company", "person": "Person", "unknown": "Legal entity or person, not said which"}
SCOPES = {"reports": "send reports", "cases": "read cases and run re-checks", "monitoring": "read monitoring"}
SWITCHES = {
    "FINDING_CORRECTNESS_VERIFICATION_ENABLED": "Re-check decision-driving findings",
    "FINDING_CORROBORATION_ENABLED": "Label source trust and corroboration",
    "MAKER_CHECKER_ENABLED": "Ask for a second officer",
}
SWITCH_EFFECTS = {
    "FINDING_CORRECTNESS_VERIFICATION_ENABLED": (
        "Off: no provider is asked and new runs end at once; of a running one, the rest is indeterminate and waits."
    ),
    "FINDING_CORROBORATION_ENABLED": "Off: reports that arrive from then on carry no labels.",
    "MAKER_CHECKER_ENABLED": (
        "Off: a decision that a sanctions or criminal finding does not stand takes effect without a second officer."
    ),
}
TABLES = {
    "verdict": VERDICTS,
    "cause": CAUSES,
    "definition": DEFINITIONS,
    "selection": SELECTION,
    "material": MATERIAL,
    "provider": PROVIDERS,
    "outcome": OUTCOMES,
    "kind": KINDS,
    "status": STATUSES,
    "run": RUNS,
    "lane": LANES,
    "aspect": ASPECTS,
    "role": ROLES,
    "entity": ENTITIES,
    "scope": SCOPES,
    "corroboration": CORROBORATION,
    "stage": STAGES,
    "case_reason": CASE_REASONS,
    "switch": SWITCHES,
    "effect": SWITCH_EFFECTS,
}


def say(group: str, code: str) -> str:
    return TABLES[group].get(code) or code.replace("_", " ")


def providers(names: str) -> str:
    """Who answered, from the comma-separated names of a verdict."""
    told = [say("provider", name.strip()) for name in names.split(",") if name.strip()]
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
