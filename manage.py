#!/usr/bin/env python
"""Django's command line. Migrations and erasure run as the owner of the tables, all else as the application role."""

import os
import sys

OWNER_COMMANDS = {"migrate", "erase_case"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "verifier.settings")
    if len(sys.argv) > 1 and sys.argv[1] in OWNER_COMMANDS:
        os.environ["DATABASE_AS_OWNER"] = "true"
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
