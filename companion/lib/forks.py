"""Work spread over the processors: groups of items, each in a process of its own, results in order.

Forked, so that nothing is loaded again; a child opens its own connections. Where a process may not have children (a
worker of the queue) or there is nothing to gain, the same work is done here, one group after another.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

from django.db import connections

Item = TypeVar("Item")
Result = TypeVar("Result")
MOST_PROCESSES = 8


def spread(work: Callable[[list[Item]], Result], items: Sequence[Item], weigh: Callable[[Item], int]) -> list[Result]:
    """Does `work` on groups of `items` of about equal weight, keeping their order within a group."""
    count = min(len(items), os.cpu_count() or 1, MOST_PROCESSES)
    if count < 2 or not _may_fork():
        return [work(list(items))]
    connections.close_all()
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("fork")) as pool:
        return list(pool.map(work, _groups(items, weigh, count)))


def _may_fork() -> bool:
    return sys.platform == "linux" and not multiprocessing.current_process().daemon


def _groups(items: Sequence[Item], weigh: Callable[[Item], int], count: int) -> list[list[Item]]:
    """Every item goes to the group that is lightest so far."""
    groups: list[list[Item]] = [[] for _ in range(count)]
    weights = [0] * count
    for item in items:
        lightest = weights.index(min(weights))
        groups[lightest].append(item)
        weights[lightest] += weigh(item)
    return groups
