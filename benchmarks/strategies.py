#!/usr/bin/env python3
"""Times GROUP BY under every strategy, and with one thread and more, on the queries of the suite `peers`.

    benchmarks/strategies.py BINARY [--rows 0.1] [--queries REGEX] [--reps 3] [--threads 2]

All runs are in one process, and take turns: every query goes through all strategies before the next round begins, so
that a machine whose speed changes slows all of them down alike. The first round warms up. Each line shows the median
seconds of a query, `best` how much faster the best forced strategy was than `auto` (below 1: auto was the faster one), and
`threads` how many times as fast `auto` is with all threads as with one.
"""

import argparse
import re
import statistics
import sys

sys.dont_write_bytecode = True  # the clone stays as it is

from peers.basalt import Basalt
from peers.engine import Setting
from queries import Query, read_suite
from report import align
from tables import suite_files

SUITE = "peers"
STRATEGIES = (
    "auto",
    "dense",
    "trivial",
    "trivial_parallel",
    "two_level",
    "splitting",
    "splitting_fast_range",
    "local_shared",
    "local_splitting_queues",
    "local_buffered_shared",
)
ONE_THREAD = "auto, 1 thread"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the basalt program")
    parser.add_argument("--rows", type=float, default=0.1, help="scale of all tables, 1 is full size (default 0.1)")
    parser.add_argument("--queries", default="", help="only queries whose name matches this regular expression")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="which, separated by commas (default all)")
    parser.add_argument("--reps", type=int, default=3, help="rounds after the one that warms up (default 3)")
    parser.add_argument("--threads", type=int, default=2, help="threads of all but one column (default 2)")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    ways = {name: (name, arguments.threads) for name in arguments.strategies.split(",")}
    ways[ONE_THREAD] = ("auto", 1)
    rows = []
    for query in read_suite(SUITE, arguments.rows):
        if "GROUP BY" in query.sql and re.search(arguments.queries, query.name):
            print(query.name, file=sys.stderr, flush=True)
            rows.append([query.name, *cells(medians(query, ways, arguments))])
    header = ["query", *ways, "best", "threads"]
    print("\n".join(align([header, *rows])))
    return 0


def medians(query: Query, ways: dict[str, tuple[str, int]], arguments: argparse.Namespace) -> dict[str, float]:
    """Median seconds of each way."""
    tables = suite_files(SUITE, query.tables, arguments.rows, arguments.binary)
    setting = Setting("memory", arguments.reps, arguments.threads, 0.0, arguments.binary)
    round_ = [
        f"{query.sql} SETTINGS group_by_strategy = '{strategy}', max_threads = {threads} FORMAT Null"
        for strategy, threads in ways.values()
    ]
    seconds, _, error = Basalt(setting, tables).run_script(round_ * (arguments.reps + 1))
    if len(seconds) < len(round_) * (arguments.reps + 1):
        sys.exit(f"{query.name}: {error}")
    return {way: statistics.median(seconds[len(ways) + i :: len(ways)]) for i, way in enumerate(ways)}


def cells(seconds: dict[str, float]) -> list[str]:
    forced = [value for way, value in seconds.items() if way not in ("auto", ONE_THREAD)]
    best = seconds["auto"] / min(forced) if forced else 1.0
    shown = [f"{value:.4f}" for value in seconds.values()]
    return [*shown, f"{best:.2f}x", f"{seconds[ONE_THREAD] / seconds['auto']:.2f}x"]


if __name__ == "__main__":
    sys.exit(main())
