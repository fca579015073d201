"""Codes inside what a report or a provider said, as a person reads them; what is no code stays as it was said."""

import re

COUNTRY_CODE = re.compile(r"[A-Za-z]{2,3}")
CODE = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")


def countries(values: list[str]) -> str:
    """ISO codes in capitals and called so; a country's name as it was given."""
    codes = [value for value in values if is_country_code(value)]
    said = ", ".join(value.upper() if value in codes else value for value in values)
    if not codes:
        return said
    return f"{said} (ISO country {'code' if len(codes) == 1 else 'codes'})"


def is_country_code(value: str) -> bool:
    return COUNTRY_CODE.fullmatch(value) is not None


def plain(value: str) -> str:
    """`sanctions_hit` as "sanctions hit"; what is no such code stays as it is."""
    return value.replace("_", " ") if CODE.fullmatch(value) else value


def schema_words(schema: str) -> str:
    """A schema's name, such as PublicBody, in words."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", schema)
    return " ".join(parts).capitalize() if "".join(parts) == schema else schema
