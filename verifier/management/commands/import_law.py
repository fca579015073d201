"""Reads official files of law into the corpus."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.models import ActorType
from verifier.law.parsing import MOST_BYTES
from verifier.services.corpus import Hand, Said, Taken, take_in

SUFFIXES = {".xml", ".html", ".htm", ".xhtml", ".md", ".zip"}


class Command(BaseCommand):
    help = "Reads official files of law into the corpus. Exits 1 when any of them was refused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a file, or a directory of them")
        parser.add_argument("--instrument", metavar="KEY", default="", help="which act it is, where it doesn't say")
        parser.add_argument("--as-of", metavar="DATE", type=date.fromisoformat, help="as of when its text stands")
        parser.add_argument("--accept", metavar="REASON", default="", help="take in what would be held, and why")
        parser.add_argument("--json", action="store_true", help="one object a file")

    def handle(
        self, *args: Any, paths: list[Path], instrument: str, as_of: date | None, accept: str, **options: Any
    ) -> None:
        said, by = Said(instrument, as_of, accept), Hand("import_law", ActorType.SYSTEM)
        states = set()
        for path in files(paths):
            try:
                content = read(path)
            except OSError as problem:
                raise CommandError(f"{path} can't be read: {problem.strerror}.", returncode=2) from None
            taken = take_in(name=path.name, content=content, said=said, by=by, at=timezone.now())
            states.add(taken.source.state)
            self.stdout.write(json.dumps(told(path, taken)) if options["json"] else in_words(path, taken))
        if "refused" in states:
            sys.exit(1)


def files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and is_text(each))
        else:
            yield path


def is_text(path: Path) -> bool:
    """Beside a text in Formex lies a file that only tells of it."""
    return path.is_file() and not path.name.endswith(".doc.xml")


def read(path: Path) -> bytes:
    """One byte more than may be, so that the reader says that it is too large."""
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def told(path: Path, taken: Taken) -> dict[str, Any]:
    text = taken.text
    return {
        "path": str(path),
        "state": str(taken.source.state),
        "reason": taken.source.reason,
        "kind": taken.source.kind,
        "instrument": text.instrument if text else None,
        "version": text.as_of.isoformat() if text else None,
        "language": text.language if text else None,
        "format": text.format if text else None,
        "articles": text.article_count if text else 0,
        "warnings": taken.warnings,
    }


def in_words(path: Path, taken: Taken) -> str:
    if taken.text is None:
        return f"{path}: {taken.source.state}: {taken.source.reason}"
    text = taken.text
    said = f"{path}: imported, {text.instrument} {text.language} as of {text.as_of}, {text.article_count} articles"
    return "\n".join([said, *(f"  {warning}" for warning in taken.warnings)])
