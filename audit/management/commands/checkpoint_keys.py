"""Shows the public keys whose checkpoints count, and hands over from one signing key to the next."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit import checkpoints
from audit.chain import canonical
from audit.signing import Signer, UnusableKey, encode, hand_over, load_signer


class Command(BaseCommand):
    help = "Prints the trusted public keys, one a line: id, base64 of the key. --rotate hands over to a new key."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rotate",
            metavar="NEW_KEY_FILE",
            help="the file of the key that CHECKPOINT_KEY will name next: both keys sign that it follows this one",
        )

    def handle(self, *args: Any, rotate: str | None, **options: Any) -> None:
        try:
            if rotate:
                self.rotate(rotate)
            ring = checkpoints.keyring(checkpoints.store())
        except (UnusableKey, OSError) as problem:
            raise CommandError(str(problem), returncode=2) from None
        for key_id, public in sorted(ring.keys.items()):
            self.stdout.write(f"{key_id} {encode(public)}")

    def rotate(self, path: str) -> None:
        old, new = checkpoints.signer(), load_signer(path, "--rotate")
        if old is None or not isinstance(new, Signer):
            raise CommandError("CHECKPOINT_KEY must be set to the key that hands over.", returncode=2)
        if old.key_id == new.key_id:
            raise CommandError("That is the key in use.", returncode=2)
        said = hand_over(old=old, new=new, at=timezone.now().isoformat(timespec="seconds"))
        name = f"{old.key_id}-{new.key_id}.json"
        try:
            checkpoints.store().write(checkpoints.KEYS, name, canonical(said.as_json()).encode() + b"\n")
        except FileExistsError:
            self.stderr.write(f"{name} is there already.")
        self.stderr.write(
            f"{old.key_id} hands over to {new.key_id}. Now set CHECKPOINT_KEY to the new key and restart."
        )
