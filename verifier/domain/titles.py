"""Whether the whole of a title is a clear result, or is about other entities. English only; any doubt is a no.

A title is cut into clauses. Each must be a clear result or only name what was screened ("EU sanctions screening"), and
at least one must be a clear result. A word that isn't known makes the answer no, except in names, and nowhere beside a
word that turns the meaning ("but", "except") or that accuses ("designated", "charged").
"""

import re
import unicodedata

from verifier.domain.taxonomy import vocabulary

LONGEST_TITLE = 300  # a longer one says more than a result, and would be slow to match
CLAUSE_ENDS = re.compile(r"[:;,.|!?()\[\]{}/\\\u2013\u2014\n]|\s-+\s|(?<=\w)-+\s|\s-+(?=\w)")
WORD = re.compile(r"[\w'\u2019&+-]+")

# Words of what is screened, against what, and by whom.
SCOPE = vocabulary(
    "sanction sanctions pep peps adverse negative media news press criminal crime enforcement regulatory watchlist"
    " watchlists list lists database databases register registers source sources consolidated global international"
    " national official eu un uk us usa eea ofac ofsi hmt hm treasury seco sdn fatf interpol eppo europol dfat bis"
    " opensanctions tavily exa european union united nations kingdom states law financial politically exposed person"
    " persons people subject company entity entities customer client applicant director directors ubo ubos owner owners"
    " shareholder shareholders individual beneficial legal name names alias aliases the a an any all of on in against"
    " for across and or via by under from with to within its their"
)
KINDS_OF_ACT = vocabulary(
    "enforcement regulatory criminal disciplinary supervisory court judicial legal adverse negative media news press"
    " sanctions sanction"
)
SCREENING = vocabulary(
    "screening screenings screened check checks checked search searches searched result results outcome status"
    " rescreening re-screening review completed complete done performed"
)
THINGS = vocabulary(
    "match matches hit hits result results record records finding findings designation designations listing listings"
    " entry entries sanction sanctions exposure mention mentions media news press flag flags alert alerts"
    " concerns issues restrictions"
)
# What authorities do: clear only where it is said of which kind ("no enforcement action", not "no action").
ACTS = vocabulary(
    "action actions proceeding proceedings investigation investigations charge charges conviction convictions"
    " allegation allegations prosecution prosecutions indictment indictments penalty penalties fine fines measure"
    " measures case cases judgment judgments judgement judgements article articles publication publications"
)
POSSIBLE = vocabulary(
    "possible potential positive known adverse negative relevant criminal disciplinary supervisory court judicial"
)
FOUND = (
    "(?:found|identified|evidenced|detected|returned|located|recorded|reported|noted|observed|discovered|present|seen"
    "|revealed|surfaced)"
)
BE = "(?:is|are|was|were|has been|have been)"
PREPOSITION = "(?:on|in|against|for|across|from|by|within|under|among|concerning|regarding|about|of|to)"
NOT_LISTED = "(?:listed|designated|sanctioned|matched|flagged|blacklisted)"
CLEAR = "(?:clear|cleared|clean|passed|negative)"

SHOWED = "(?:returned|returns|showed|shows|yielded|produced|revealed|found|gave|has|had|with)"
NO_THING = re.compile(
    rf"(?:(?P<who>.+?) (?:{SHOWED} )?)?(?:no|zero|0|nil) (?P<what>.+?)(?: (?:{BE} )?{FOUND})?"
    rf"(?: {PREPOSITION} (?P<where>.+))?"
)
NOTHING = re.compile(rf"(?:none|nothing|nil|no)(?: (?:{BE} )?{FOUND})?(?: {PREPOSITION} (?P<where>.+))?")
NOT_ON_LIST = re.compile(
    rf"(?P<who>.*?) ?(?:{BE} )?not (?:{NOT_LISTED}|(?:a |an )?(?:match|pep|hit))(?: {PREPOSITION} (?P<where>.+))?"
)
NOT_AMONG = re.compile(
    rf"(?P<who>.*?) ?(?:(?:{BE} |does |did )?not (?:appear |found |named |identified |mentioned )?)"
    r"(?:on|in|among) (?P<where>.+ (?:list|lists|watchlist|watchlists))"
)
CLEAR_SCREENING = re.compile(r"(?P<who>(?:a )?)(?:clear|clean) (?P<where>.+)")
IS_CLEAR = re.compile(
    rf"(?P<who>.*?) ?(?:{BE} |came back |comes back |returned )?{CLEAR}(?: result| of (?P<where>.+))?"
)

TURNS = vocabulary(
    "but yet however although though while whereas except excepting excluding despite notwithstanding unless until"
    " after before since following because due when once if with without only still also plus then now not no nor"
    " never than pending partially partial partly incomplete unclear inconclusive unverified other further"
)
ACCUSES = re.compile(
    r"(?:designat|sanctioned|listed|blacklist|delist|hits?$|match|flag|charg|arrest|convict|indict|prosecut|accus|alleg"
    r"|confirm|freez|froze|frozen|fraud|launder|brib|corrupt|embezzl|smuggl|traffick|terror|evad|evasion|investigat"
    r"|raid|seiz|fine[ds]?$|penal|warn|block|ban(?:s|ned)?$|revok|suspend|wanted|guilty|plead|jail|prison|sentenc"
    r"|violat|breach|crimes?$|illegal|illicit|scandal|probe|sued?$|lawsuit|linked|owned|controlled)"
)


def is_clear_result(title: str) -> bool:
    """Such as `EU sanctions screening: no designation evidenced`, and unlike `No matches found for director, but
    subject designated`.
    """
    if len(title) > LONGEST_TITLE:
        return False
    text = unicodedata.normalize("NFKC", title)
    names_told = text != text.upper()  # in capitals only, a name can't be told from any other word
    clauses = [words for clause in CLAUSE_ENDS.split(text) if (words := WORD.findall(clause))]
    clear = [tells_clear(words, names_told) for words in clauses]
    return any(clear) and all(
        told or names_scope(words, names_told) for told, words in zip(clear, clauses, strict=True)
    )


def tells_clear(words: list[str], names_told: bool) -> bool:
    text = " ".join(words).casefold()
    if (match := NO_THING.fullmatch(text)) and is_thing(match["what"].split()):
        return names_scope(around(match, words), names_told)
    if (match := CLEAR_SCREENING.fullmatch(text)) and text.split()[-1] in SCREENING:
        return set(match["where"].split()) <= SCOPE | SCREENING
    for pattern in (NOTHING, NOT_ON_LIST, NOT_AMONG):
        if match := pattern.fullmatch(text):
            return names_scope(around(match, words), names_told)
    if match := IS_CLEAR.fullmatch(text):
        return is_said_of_screening(match, words, names_told)
    return False


def is_thing(words: list[str]) -> bool:
    """`Sanctions matches` are what a screening finds. `Sanctions screening` is the screening; none of it is a gap."""
    if not all(word in SCOPE | THINGS | POSSIBLE | ACTS for word in words):
        return False
    return words[-1] in THINGS or (words[-1] in ACTS and not KINDS_OF_ACT.isdisjoint(words[:-1]))


def is_said_of_screening(match: re.Match[str], words: list[str], names_told: bool) -> bool:
    """`Media negative` is bad news; `Media check negative` is none."""
    told = around(match, words)
    screened = not SCREENING.isdisjoint(word.casefold() for word in told)
    if "negative" in match[0].split()[-2:] and not screened:
        return match[0] == "negative"
    return names_scope(told, names_told)


def around(match: re.Match[str], words: list[str]) -> list[str]:
    """The words, as spelled, before and behind the telling part of a clause."""
    groups = match.groupdict()
    before = words[: len((groups.get("who") or "").split())]
    behind = words[-len(groups["where"].split()) :] if groups.get("where") else []
    return before + behind


def names_scope(words: list[str], names_told: bool) -> bool:
    """Whether the words only say who or what was screened: known words, numbers, and names."""
    return all(is_scope(word, names_told) for word in words)


def is_scope(word: str, names_told: bool) -> bool:
    folded = word.casefold()
    if folded in TURNS or ACCUSES.match(folded):
        return False
    if folded in SCOPE or folded in SCREENING or folded.isdecimal():
        return True
    return names_told and not word[0].islower() and any(character.isalpha() for character in word)


SENTENCES = re.compile(r"[.;!?\n]+")
DENIES = vocabulary("no not none nothing nil zero 0 without never neither nor cannot free clear cleared clean negative")


def speaks_against(description: str) -> bool:
    """Whether a description says of somebody what a clear title denies: a sentence that accuses and denies nothing.

    It never clears anything, it only lets a finding be re-checked that its title alone would have left out.
    """
    text = unicodedata.normalize("NFKC", description).casefold()
    return any(accuses(WORD.findall(sentence)) for sentence in SENTENCES.split(text))


def accuses(words: list[str]) -> bool:
    if any(word in DENIES or word.endswith(("n't", "n\u2019t")) for word in words):
        return False
    return any(ACCUSES.match(word) and word not in SAID_OF_SCREENING for word in words)


SAID_OF_SCREENING = vocabulary("match matched matches matching confirm confirmed listed blocks ban bank bans")
RELATED = r"(?:network|related|connected|associated|affiliated|linked|group|third[- ]party|neighbouring|neighboring)"
OTHERS = (
    r"(?:entity|entities|company|companies|party|parties|person|persons|people|individuals?|counterpart(?:y|ies)"
    r"|associates?|affiliates?|members?|nodes?|businesses)"
)
COUNT = (
    r"(?:(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|several|multiple|some|possible|potential|the|a|an) )*"
)
ABOUT_NETWORK = re.compile(
    rf"{COUNT}(?:{RELATED} (?:network )?{OTHERS}"
    r"|network(?:-level| level|-wide)? (?:sanctions?|screening|exposure|review|risk)"
    rf"|network of {RELATED} {OTHERS})(?P<rest>(?: .*)?)"
)
OF_SCREENING = vocabulary(
    "review reviews required requires needed flagged found identified outstanding open several multiple some two three"
    " risk risks confirmed designated"
)
OF_NETWORK = re.compile(
    rf"{COUNT}(?:entity|entities|company|companies|affiliates?|nodes?|businesses) (?:in|of|within|across)"
    r" (?:(?:the|its|their|wider|ownership|corporate|subject's|company's) )*(?:network|group)(?P<rest>(?: .*)?)"
)
ENDS_IN_NETWORK = re.compile(
    r"(?P<head>.+) (?:for|among|in|of|on|within|across|concerning|involving)"
    rf" (?:(?:the|its|wider|subject's|company's) )*(?:{RELATED} (?:network )?{OTHERS}|network)"
)
THE_SUBJECT = vocabulary(
    "subject subject's company's applicant applicant's customer client director directors ubo ubos owner owners itself"
    " himself herself shareholder shareholders management ceo and both including also"
)
HARMLESS_TURNS = vocabulary("pending following with due also only still not unverified further other")
SENTENCE_ENDS = re.compile(r"[;!?]|[.:,\u2013\u2014](?:\s|$)|\s-+\s")


# "Network entities: two connected companies sanctioned": the label says of whom, what follows must say so as well.
LABEL = re.compile(
    rf"^(?:network (?:{OTHERS}|review|screening|exposure)|{RELATED} {OTHERS}): (?={COUNT}{RELATED} {OTHERS})"
)


def is_about_network(title: str) -> bool:
    """`Network entities flagged for sanctions review` is; `Related parties and subject designated` is not."""
    text = LABEL.sub("", unicodedata.normalize("NFKC", title).casefold().strip(" ."))
    if len(title) > LONGEST_TITLE or SENTENCE_ENDS.search(text):
        return False
    text = " ".join(text.split())
    if match := ENDS_IN_NETWORK.fullmatch(text):
        return set(match["head"].split()) <= SCOPE - THE_SUBJECT | SCREENING | THINGS | POSSIBLE | OF_SCREENING
    match = ABOUT_NETWORK.fullmatch(text) or OF_NETWORK.fullmatch(text)
    if match is None:
        return False
    rest = set(WORD.findall(match["rest"]))
    return rest.isdisjoint(THE_SUBJECT) and rest.isdisjoint(TURNS - HARMLESS_TURNS)
