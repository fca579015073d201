"""Run at start: the switches take their first values, or changed ones, from the environment."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from verifier.models import Switch


class Command(BaseCommand):
    help = "Applies the environment's values to switches that are new or whose value there changed."

    def handle(self, *args: Any, **options: Any) -> None:
        for name in Switch.apply_environment(at=timezone.now()):
            self.stdout.write(f"{name}: {'on' if Switch.is_on(name) else 'off'}")
