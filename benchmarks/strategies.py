#!/usr/bin/env python3
"""Times GROUP BY under every strategy, and with one thread and more, on the queries of the suite `peers`.

    benchmarks/strategies.py BINARY [--rows 0.1] [--queries REGEX] [--reps 3] [--threads 2]

All runs of a query are in one process, and take turns. Each line shows the median seconds of a query, `best` how much
faster the best forced strategy was than `auto` (below 1: auto was the faster one), and `threads` how many times as fast
`auto` is with all threads as with one.
"""

import sys

sys.dont_write_bytecode = True  # the clone stays as it is

from report import align
from turns import grouping_queries, medians, parser

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


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--strategies", default=",".join(STRATEGIES), help="which, separated by commas (default all)")
    options.add_argument("--threads", type=int, default=2, help="threads of all but one column (default 2)")
    arguments = options.parse_args()
    ways = {name: settings(name, arguments.threads) for name in arguments.strategies.split(",")}
    ways[ONE_THREAD] = settings("auto", 1)
    rows = [[query.name, *cells(medians(query, ways, arguments))] for query in grouping_queries(arguments)]
    header = ["query", *ways, "best", "threads"]
    print("\n".join(align([header, *rows])))
    return 0


def settings(strategy: str, threads: int) -> dict[str, str]:
    return {"group_by_strategy": f"'{strategy}'", "max_threads": str(threads)}


def cells(seconds: dict[str, float]) -> list[str]:
    forced = [value for way, value in seconds.items() if way not in ("auto", ONE_THREAD)]
    best = seconds["auto"] / min(forced) if forced else 1.0
    shown = [f"{value:.4f}" for value in seconds.values()]
    return [*shown, f"{best:.2f}x", f"{seconds[ONE_THREAD] / seconds['auto']:.2f}x"]


if __name__ == "__main__":
    sys.exit(main())
