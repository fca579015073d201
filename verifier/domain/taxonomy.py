"""The words of `category` and `type`, and what they say of a finding.

A code is split into words, and every word of it must be known: one that names a kind, or one that only tells whose or
how sure ("entity", "hit", "confirmed"). A code with any other word is of no kind we know, which is never an error.
"""

import re
from enum import StrEnum
from functools import lru_cache

NOT_A_WORD = re.compile(r"[\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class MaterialType(StrEnum):
    """Kinds of claim that can be re-derived. A politically exposed person is none: no list of sanctions tests that."""

    SANCTIONS = "sanctions"
    CRIMINAL = "criminal"
    ENFORCEMENT = "enforcement"
    REGULATORY_ACTION = "regulatory_action"
    ADVERSE_MEDIA = "adverse_media"


GRAVEST = frozenset({MaterialType.SANCTIONS, MaterialType.CRIMINAL})


def vocabulary(words: str) -> frozenset[str]:
    return frozenset(words.split())


# One or two words that name a kind. Where a code names several, the first kind of this table wins: "sanctions evasion"
# is a crime and "sanctions enforcement" an action of an authority, and neither claims that the subject is listed.
KINDS: dict[MaterialType, str] = {
    MaterialType.CRIMINAL: "criminal, crime, crimes, criminality, fraud, corruption, bribery, laundering,"
    " money laundering, terrorism, terrorist, terrorist financing, terrorism financing, evasion, tax evasion,"
    " tax fraud, embezzlement, trafficking, human trafficking, drug trafficking, prosecution, prosecutor, indictment,"
    " indicted, conviction, convicted, arrest, arrested, financial crime, organised crime,"
    " organized crime, economic crime, cyber crime, cybercrime, offence, offences, offense, offenses, wanted,"
    " interpol, red notice",
    MaterialType.ENFORCEMENT: "enforcement, law enforcement, penalty, penalties, fine, fines, fined, violation,"
    " violations, breach, debarment, debarred",
    MaterialType.REGULATORY_ACTION: "regulatory, regulator, disciplinary, licence revocation, license revocation,"
    " licence revoked, license revoked, licence withdrawal, license withdrawal, licence suspension, license suspension",
    MaterialType.ADVERSE_MEDIA: "adverse, adverse media, adverse news, adverse press, negative media, negative news,"
    " negative press, press",
    MaterialType.SANCTIONS: "sanction, sanctions, sanctioned, ofac, sdn",
}
KIND_OF = {words: kind for kind, names in KINDS.items() for words in names.split(", ")}
PRECEDENCE = list(KINDS)

QUALIFIERS = vocabulary(
    "entity subject company corporate business person individual director directors officer officers ubo ubos owner"
    " owners shareholder shareholders management client customer hit hits match matches matched finding findings alert"
    " alerts flag flagged result results list lists listing listed screening check search claim claims allegation"
    " allegations alleged confirmed possible potential suspected direct eu un uk us ofsi hmt seco national"
    " international global consolidated designation designated watchlist exposure risk action actions investigation"
    " investigations investigated proceeding proceedings case cases charge charges charged record records history probe"
    " order orders measure measures notice warning warnings media news article report verdict ongoing active past"
    " aml cft anti the of and"
)

SHORT = 200  # characters; nothing longer is remembered, or a report could fill the memory
NOT_SCREENED = ("not screened", "unscreened", "not searched", "screening gap", "coverage gap")
GAPS = vocabulary("gap gaps")
FAILURES = vocabulary(
    "error errors failure failed unavailable incomplete degraded timeout skipped missing outage partial inconclusive"
    " pending"
)
CLAIMS = vocabulary("hit hits match matches matched designation designated")  # a partial match is no gap
LOOKED_AT = vocabulary("screening recall coverage search searches media retrieval sanctions sanction pep")
GAP_IN = LOOKED_AT | vocabulary("data evidence ingestion")
SCREENING_WORDS = vocabulary("screening pep peps watchlist watchlists politically rca")
NETWORK_WORDS = ("network", "related entity", "related entities", "related party", "related parties", "related company")
REVIEWED_IN_NETWORK = vocabulary("sanction sanctions sanctioned screening adverse media pep review hit")


def words_of(code: str) -> tuple[str, ...]:
    """`Adverse-Media`, `adverse media` and `adverseMedia` are one code."""
    return words_of_short(code) if len(code) <= SHORT else split_words(code)


@lru_cache(maxsize=4096)
def words_of_short(code: str) -> tuple[str, ...]:
    return split_words(code)


def split_words(code: str) -> tuple[str, ...]:
    return tuple(NOT_A_WORD.sub(" ", CAMEL.sub(" ", code)).casefold().split())


def kind_of(code: str) -> MaterialType | None:
    words = words_of(code)
    kinds: set[MaterialType] = set()
    place = 0
    while place < len(words):
        pair = " ".join(words[place : place + 2])
        if pair in KIND_OF and pair != words[place]:
            kinds.add(KIND_OF[pair])
            place += 2
            continue
        if words[place] in KIND_OF:
            kinds.add(KIND_OF[words[place]])
        elif words[place] not in QUALIFIERS:
            return None
        place += 1
    return next((kind for kind in PRECEDENCE if kind in kinds), None)


def material_type_of(category: str, type_: str) -> MaterialType | None:
    """By category, else by type. A broad category gives way to a type that says sanctions or criminal."""
    by_category, by_type = kind_of(category), kind_of(type_)
    if by_category not in GRAVEST and by_type in GRAVEST:
        return by_type
    return by_category or by_type


# Parts of words by which a code may speak of sanctions or crime, whatever else stands in it.
GRAVE_STEMS = re.compile(
    r"sanction|ofac|\bsdn|designat|embargo|frozen|freez|blocked|crim|fraud|launder|brib|corrupt|terror|indict|convict"
    r"|arrest|prosecut|charg|evasion|embezzl|traffick|offen[cs]e|felon|interpol|wanted"
)


def may_be_grave(code: str) -> bool:
    """Whether a code speaks of sanctions or crime anywhere in it, or is written so that this can't be told."""
    return kind_of(code) in GRAVEST or not code.isascii() or bool(GRAVE_STEMS.search(code.casefold()))


def is_coverage_marker(category: str, type_: str) -> bool:
    """Whether the finding says that something was not, or not wholly, looked at."""
    return any(marks_coverage(words_of(code)) for code in (category, type_))


def marks_coverage(words: tuple[str, ...]) -> bool:
    if any(marker in " ".join(words) for marker in NOT_SCREENED):
        return True
    told = set(words)
    if told & CLAIMS:
        return False
    return bool((told & GAPS and told & GAP_IN) or (told & LOOKED_AT and words[-1] in FAILURES))


def is_network_scoped(category: str, type_: str) -> bool:
    """Whether the finding is about the network around the subject, which screening the subject can't test."""
    return any(names_network(words_of(code)) for code in (category, type_))


def names_network(words: tuple[str, ...]) -> bool:
    joined = " ".join(words)
    return joined.startswith(NETWORK_WORDS) and not REVIEWED_IN_NETWORK.isdisjoint(words)


def is_screening(category: str, type_: str) -> bool:
    """Whether the finding is the outcome of a screening or a search, such as sanctions, PEP or adverse media."""
    kinds = {MaterialType.SANCTIONS, MaterialType.ADVERSE_MEDIA}
    return any(kind_of(code) in kinds or not SCREENING_WORDS.isdisjoint(words_of(code)) for code in (category, type_))
