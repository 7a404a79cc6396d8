"""Starts a guard as a file of its own: `python -I guard_start.py NAME DATA RUN LOCK`.

The package `companion` loads Celery when it is imported, ten times what a guard needs: so it is given a bare stand-in.
"""

import sys
from pathlib import Path
from types import ModuleType

bare = ModuleType("companion")
bare.__path__ = [str(Path(__file__).resolve().parent.parent)]
sys.modules["companion"] = bare

from companion.up.guard import main  # noqa: E402

if __name__ == "__main__":
    # The fourth argument is the inherited descriptor of `<name>.guard`; it only has to stay open.
    sys.exit(main(*sys.argv[1:4]))
