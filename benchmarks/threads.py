#!/usr/bin/env python3
"""Times GROUP BY with more and more threads, on the queries of the suite `peers`.

    benchmarks/threads.py BINARY [--rows 0.1] [--queries REGEX] [--reps 3] [--threads 1,2,4,8,16]

All runs of a query are in one process, and take turns. Each line shows the median seconds of a query with each number
of threads, and how many times as fast the last number is as the first.
"""

import os
import sys

sys.dont_write_bytecode = True  # the clone stays as it is

from report import align
from turns import grouping_queries, medians, parser


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--threads", default=doubling(), help=f"how many, separated by commas (default {doubling()})")
    arguments = options.parse_args()
    ways = {number: {"max_threads": number} for number in arguments.threads.split(",")}
    rows = [[query.name, *cells(medians(query, ways, arguments))] for query in grouping_queries(arguments)]
    header = ["query", *ways, "speedup"]
    print("\n".join(align([header, *rows])))
    return 0


def doubling() -> str:
    """1, 2, 4 and so on up to the processors there are."""
    count = os.cpu_count() or 1
    numbers = [1]
    while numbers[-1] * 2 <= count:
        numbers.append(numbers[-1] * 2)
    return ",".join(map(str, numbers))


def cells(seconds: dict[str, float]) -> list[str]:
    values = list(seconds.values())
    return [*(f"{value:.4f}" for value in values), f"{values[0] / values[-1]:.2f}x"]


if __name__ == "__main__":
    sys.exit(main())
