"""Whom a finding is about, and the questions that are put to providers and to the judge about them."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from verifier.domain.answers import ScreeningQuery
from verifier.domain.dates import read_date
from verifier.domain.findings import ReportedFinding, classify_material_type
from verifier.domain.json_text import Number
from verifier.domain.taxonomy import vocabulary

PERSON, COMPANY, LEGAL_ENTITY, ORGANIZATION = ("Person", "Company", "LegalEntity", "Organization")
VESSEL, AIRPLANE = "Vessel", "Airplane"
# ADR-0111: anything else is screened as a company. An Organization query reaches public bodies too.
SCHEMAS = {
    PERSON: "person individual natural_person physical_person private_individual private_person human",
    LEGAL_ENTITY: "unknown undetermined unspecified not_known legal_entity sole_trader sole_proprietor",
    ORGANIZATION: "organization organisation ngo non_profit nonprofit charity foundation association public_body"
    " government government_body authority ministry municipality state_body political_party",
    VESSEL: "vessel ship",
    AIRPLANE: "aircraft airplane aeroplane plane",
}
SCHEMA_OF = {word: schema for schema, words in SCHEMAS.items() for word in words.split()}
IDENTIFIERS = {
    "leiCode": "lei leicode legalentityidentifier",
    "taxNumber": "tax taxnumber taxid tin vat vatnumber vatid",
    "innCode": "inn inncode",
    "registrationNumber": "registrationnumber registration companynumber regnumber regcode kvk kbo ico siren",
    "passportNumber": "passport passportnumber passportno",
    "idNumber": "idnumber nationalid nationalidnumber nationalnumber personalcode identitycard idcard nrn bsn",
    "imoNumber": "imo imonumber",
    "mmsi": "mmsi",
}
IDENTIFIER_OF = {word: name for name, words in IDENTIFIERS.items() for word in words.split()}
CORPORATE = {"leiCode", "taxNumber", "innCode", "registrationNumber"}
ACCEPTED = {
    PERSON: {"idNumber", "passportNumber", "taxNumber", "innCode"},
    COMPANY: CORPORATE,
    ORGANIZATION: CORPORATE,
    LEGAL_ENTITY: CORPORATE,
    VESSEL: {"imoNumber", "mmsi", "registrationNumber"},
    AIRPLANE: {"registrationNumber"},
}
MOST_ALIASES = 10
QUERY_CHARACTERS = 379
NAME_CHARACTERS = 200
TOPIC_WORDS = 12
TITLE_CHARACTERS, DESCRIPTION_CHARACTERS = 500, 1500
LITTLE_WORDS = vocabulary(
    "a an the of on in at by for to with from and or as is are was were be been has have had its it his her their this"
    " that against under over into after before about not no"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a report, as reported."""

    name: str
    entity_type: str = ""
    country: str = ""
    registration_number: str = ""
    birth_date: str = ""
    nationality: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    identifiers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_subject(data: Mapping[str, Any]) -> Subject:
    """Tolerant of odd types: what isn't a text (or a whole number, where one is likely) counts as absent."""
    identifiers = data.get("identifiers")
    return Subject(
        name=first(texts(data.get("name"))),
        entity_type=first(texts(data.get("entity_type"))),
        country=first(texts(data.get("country"))),
        registration_number=first(texts(data.get("registration_number"))),
        birth_date=first(texts(data.get("birth_date"))),
        nationality=texts(data.get("nationality")),
        aliases=texts(data.get("aliases")),
        identifiers={key: texts(value) for key, value in identifiers.items()} if isinstance(identifiers, dict) else {},
    )


def names_of(subject: Subject) -> tuple[str, ...]:
    """All by which people ask for a subject: its names and its numbers."""
    numbers = (number for several in subject.identifiers.values() for number in several)
    return (subject.name, *subject.aliases, subject.registration_number, *numbers)


def texts(value: object) -> tuple[str, ...]:
    """The non-blank texts in a value that may be a text, a whole number or a list of them."""
    values = value if isinstance(value, list | tuple) else [value]
    spelled = (str(one) for one in values if isinstance(one, str | int | Number) and not isinstance(one, bool))
    return tuple(text for one in spelled if (text := " ".join(one.replace("\0", "\ufffd").split())))


def first(values: tuple[str, ...]) -> str:
    return values[0] if values else ""


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def schema_of(entity_type: str) -> str:
    return SCHEMA_OF.get("_".join(re.findall(r"[^\W_]+", entity_type.casefold())), COMPANY)


def is_subject(finding: ReportedFinding, subject: Subject) -> bool:
    target = folded(finding.target or "")
    return not target or target == folded(subject.name)


def target_name(finding: ReportedFinding, subject: Subject) -> str:
    return subject.name if is_subject(finding, subject) else " ".join((finding.target or "").split())


def screening_query(finding: ReportedFinding, subject: Subject) -> ScreeningQuery:
    """What is asked of a list. With no name there is nothing to ask: `name` is then empty, and no one may send it."""
    name = target_name(finding, subject)
    if not is_name(name):
        return ScreeningQuery(COMPANY, {"name": []}, ("There is no name to screen.",))
    if not is_subject(finding, subject):
        note = "The finding is about another than the subject, so only that name was screened."
        return ScreeningQuery(LEGAL_ENTITY, {"name": [name]}, (note,))
    schema = schema_of(subject.entity_type)
    properties = {"name": [name]}
    notes: list[str] = []
    if aliases := other_names(subject):
        properties["alias"] = aliases
    if schema == PERSON:
        add_personal(properties, subject, notes)
    else:
        add_corporate(properties, subject, schema, notes)
    add_identifiers(properties, subject, schema, notes)
    return ScreeningQuery(schema, properties, tuple(notes))


def is_name(text: str) -> bool:
    return any(character.isalnum() for character in text)


def other_names(subject: Subject) -> list[str]:
    names = {folded(alias): alias for alias in reversed(subject.aliases) if is_name(alias)}
    names.pop(folded(subject.name), None)
    return list(reversed(names.values()))[:MOST_ALIASES]


def add_personal(properties: dict[str, list[str]], subject: Subject, notes: list[str]) -> None:
    if subject.birth_date:
        date = read_date(subject.birth_date)
        if date.value:
            properties["birthDate"] = [date.value]
        if date.note:
            notes.append(f"Birth date: {date.note}")
    if subject.nationality:
        properties["nationality"] = [country_code(country) for country in subject.nationality]
    if subject.registration_number:
        properties["idNumber"] = [subject.registration_number]
    if subject.country and not subject.nationality:
        notes.append("The country was not used: where a person lives is not a nationality.")


def add_corporate(properties: dict[str, list[str]], subject: Subject, schema: str, notes: list[str]) -> None:
    if subject.country:
        properties[country_property(schema)] = [country_code(subject.country)]
    if subject.registration_number:
        properties["registrationNumber"] = [subject.registration_number]
    if subject.birth_date:
        notes.append("The birth date was not used: the subject was not screened as a person.")


def country_property(schema: str) -> str:
    return {VESSEL: "flag", AIRPLANE: "country"}.get(schema, "jurisdiction")


def country_code(country: str) -> str:
    """Codes in lower case, as the lists have them; a country's name is sent as reported."""
    return country.casefold() if len(country) <= 3 else country


def add_identifiers(properties: dict[str, list[str]], subject: Subject, schema: str, notes: list[str]) -> None:
    for key, values in subject.identifiers.items():
        name = IDENTIFIER_OF.get(re.sub(r"[\W_]+", "", key.casefold()))
        if not values:
            continue
        if name is None or name not in ACCEPTED[schema]:
            notes.append(f"An identifier was not used: {key[:40]}.")
            continue
        properties[name] = list(dict.fromkeys([*properties.get(name, []), *values]))


def media_query(finding: ReportedFinding, subject: Subject) -> str:
    """The name, quoted, and what is claimed. A result must hold the name: words of the claim alone find a sector."""
    name = plain_words(target_name(finding, subject), NAME_CHARACTERS)
    if not is_name(name):
        return ""
    in_name = set(folded(name).split())
    words = [word for word in re.findall(r"[^\W_]+", finding.title) if is_topical(word, in_name)]
    if not words:
        words = topic_words(finding)
    query = f'"{name}"'
    for word in list(dict.fromkeys(words))[:TOPIC_WORDS]:
        if len(query) + 1 + len(word) > QUERY_CHARACTERS:
            break
        query = f"{query} {word}"
    return query


def is_topical(word: str, in_name: set[str]) -> bool:
    return folded(word) not in in_name and word.casefold() not in LITTLE_WORDS and len(word) > 1


def topic_words(finding: ReportedFinding) -> list[str]:
    material_type = classify_material_type(finding)
    return str(material_type).split("_") if material_type else []


def plain_words(text: str, most: int) -> str:
    """Without quotation marks, which would end the quoted name, and cut between words."""
    text = " ".join(re.sub(r"[\"“”„«»\x00-\x1f\x7f]", " ", text).split())
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0]


def claim_text(finding: ReportedFinding, subject: Subject) -> str:
    """What the judge is asked about: who, and what the report claims of them."""
    lines = [f"Entity: {whom(finding, subject)}", f"Claim: {shortened(finding.title, TITLE_CHARACTERS)}"]
    if finding.description and folded(finding.description).strip(" .") != folded(finding.title).strip(" ."):
        lines.append(f"As the report describes it: {shortened(finding.description, DESCRIPTION_CHARACTERS)}")
    return "\n".join(lines)


def whom(finding: ReportedFinding, subject: Subject) -> str:
    name = target_name(finding, subject)
    if not is_subject(finding, subject):
        return name
    known: Iterable[str] = (
        schema_of(subject.entity_type).lower() if subject.entity_type else "",
        f"country {subject.country}" if subject.country else "",
        f"registration number {subject.registration_number}" if subject.registration_number else "",
        f"born {subject.birth_date}" if subject.birth_date else "",
    )
    details = ", ".join(part for part in known if part)
    return f"{name} ({details})" if details else name


def shortened(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
