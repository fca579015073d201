"""Tells to which provisions citations lead, or what of them is missing."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.chain import printable
from verifier.services.citations import Resolution, resolve


class Command(BaseCommand):
    help = "Resolves citations against the corpus of law."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("citations", metavar="TEXT", nargs="*")
        parser.add_argument("--instrument", metavar="KEY", default="", help="of which act, whatever the text calls it")
        parser.add_argument("--as-of", metavar="DATE", type=date.fromisoformat, help="the law as it stood at that day")
        parser.add_argument(
            "--file", metavar="FILE.jsonl", type=Path, help="rows with `citation`, `instrument`, `as_of`"
        )
        parser.add_argument("--json", action="store_true", help="one object a citation")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["citations"]) == bool(options["file"]):
            raise CommandError("Give citations, or a file of them.", returncode=2)
        given = {"instrument": options["instrument"], "as_of": options["as_of"]}
        rows = read(options["file"]) if options["file"] else ({"citation": each} for each in options["citations"])
        today = timezone.now().date()
        for row in rows:
            found = resolve(
                str(row["citation"]),
                instrument=plain(str(row.get("instrument") or given["instrument"] or "")),
                as_of=day(row.get("as_of")) or given["as_of"],
                today=today,
            )
            self.stdout.write(json.dumps({**row, **found.as_json()}) if options["json"] else in_words(found))


def read(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise CommandError(f"{path} can't be read: {problem}.", returncode=2) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise CommandError(f"{path}, line {number}: {problem}.", returncode=2) from None
        if not isinstance(row, dict) or not isinstance(row.get("citation"), str):
            raise CommandError(f"{path}, line {number}: a row needs a text `citation`.", returncode=2)
        yield row


def plain(text: str) -> str:
    """As a database and a terminal can take it."""
    return printable(text.encode("utf-8", "replace").decode("utf-8"))


def day(value: object) -> date | None:
    """What is no date says nothing about which state is meant."""
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def in_words(found: Resolution) -> str:
    told = f"{plain(found.citation)}: {found.state}"
    return f"{told}, missing {', '.join(found.missing)}" if found.missing else told
