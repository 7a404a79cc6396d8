"""`python -m bench [index] [live] [sessions] [--json FILE] [--rounds N] [--megabytes N]`: measures and prints a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench import machine
from bench.figures import table, write_json
from bench.measure import NAMES, Size, apart


def main() -> int:
    asked = parsed()
    size = Size(asked.rounds, asked.megabytes, asked.lines, asked.sessions)
    described = machine.describe()
    print(machine.in_words(described), file=sys.stderr, flush=True)
    busy, figures = [], []
    for name in asked.names or NAMES:
        busy.append(machine.wait_until_quiet(asked.wait))
        figures += apart(name, size)
        print(table([figure for figure in figures if figure.bench == name]), flush=True)
    if asked.json:
        write_json(asked.json, figures, {**described, "others_percent_before": busy})
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure against peers and limits.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all when left out")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--rounds", type=int, default=5, help="runs to take the median of (5)")
    parser.add_argument("--megabytes", type=int, default=512, help="transcripts to index (512)")
    parser.add_argument("--lines", type=int, default=200, help="lines to append for `live` (200)")
    parser.add_argument("--sessions", type=int, default=10_000, help="sessions in the list (10000)")
    parser.add_argument("--wait", type=float, default=3.0, help="minutes to wait for a quiet machine (3)")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(NAMES):
        parser.error(f"there is no bench {sorted(unknown)[0]!r}: choose of {', '.join(NAMES)}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
