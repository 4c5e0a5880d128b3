"""Times ways to run a query in turn, all in one process.

Every query goes through all ways before the next round begins, so that a machine whose speed changes slows all of them
down alike. The first round warms up.
"""

import argparse
import re
import statistics
import sys
from collections.abc import Iterator

from peers.basalt import Basalt
from peers.engine import Setting
from queries import Query, read_suite
from tables import suite_files

SUITE = "peers"


def parser(description: str) -> argparse.ArgumentParser:
    """The options that all programs have which time ways in turn."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("binary", help="the basalt program")
    options.add_argument("--rows", type=float, default=0.1, help="scale of all tables, 1 is full size (default 0.1)")
    options.add_argument("--queries", default="", help="only queries whose name matches this regular expression")
    options.add_argument("--reps", type=int, default=3, help="rounds after the one that warms up (default 3)")
    return options


def grouping_queries(arguments: argparse.Namespace) -> Iterator[Query]:
    """The queries of the suite `peers` with GROUP BY that the options name."""
    for query in read_suite(SUITE, arguments.rows):
        if "GROUP BY" in query.sql and re.search(arguments.queries, query.name):
            print(query.name, file=sys.stderr, flush=True)
            yield query


def medians(query: Query, ways: dict[str, dict[str, str]], arguments: argparse.Namespace) -> dict[str, float]:
    """Median seconds of each way, which is a name and the settings that it stands for."""
    tables = suite_files(SUITE, query.tables, arguments.rows, arguments.binary)
    setting = Setting("memory", arguments.reps, 0, 0.0, arguments.binary)
    round_ = []
    for settings in ways.values():
        written = ", ".join(f"{name} = {value}" for name, value in settings.items())
        round_.append(f"{query.sql} SETTINGS {written} FORMAT Null")
    seconds, _, error = Basalt(setting, tables).run_script(round_ * (arguments.reps + 1))
    if len(seconds) < len(round_) * (arguments.reps + 1):
        sys.exit(f"{query.name}: {error}")
    return {way: statistics.median(seconds[len(ways) + i :: len(ways)]) for i, way in enumerate(ways)}
