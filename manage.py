#!/usr/bin/env python3
"""The console's command line: `python manage.py NAME … [--json]`."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "companion.settings")
    from companion.up.commandline import run

    sys.exit(run(sys.argv))


if __name__ == "__main__":
    main()
