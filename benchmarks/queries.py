"""Reads the queries of the suites and says which tables they need.

A suite is a file under sql/ with one query a line, in ClickHouse's dialect. A query may begin with a comment that names
it, marks it as `large` when its result is too long to compare row by row, and says how many bytes any engine must read
(`reads {1_000_000}`) or how many packed words it must sort (`sorts {1_000_000}`). `{1_000_000}` is a number of rows at
full size, `{1_000_000 - 10}` ten less than the rows there are: both change with the scale.
"""

import re
from dataclasses import dataclass
from pathlib import Path

SQL_FOLDER = Path(__file__).resolve().parent / "sql"

# Suite: table in the queries -> (kind for `basalt datagen`, rows at full size).
SUITES = {
    "peers": {
        "dbl": ("bench_dbl", 100_000_000),
        "trips": ("bench_trips", 100_000_000),
        "hits": ("bench_hits", 50_000_000),
        "abc": ("bench_abc", 50_000_000),
    },
    "seeds": {
        "dbl": ("bench_dbl", 100_000_000),
        "trips": ("trips", 50_000_000),
        "hits": ("hits", 10_000_000),
        "abc": ("bench_abc", 50_000_000),
    },
    "clickbench": {"hits": ("hits", 10_000_000)},
    "functions": {},
    "fused": {
        "dbl": ("bench_dbl", 100_000_000),
        "abc": ("bench_abc", 50_000_000),
    },
    "sorts": {
        "dbl": ("bench_dbl", 50_000_000),
        "trips": ("trips", 50_000_000),
        "hits": ("hits", 10_000_000),
    },
}

HEAD = re.compile(r"/\*\s*(?P<name>\w+)(?P<large>,\s*large)?(?:,\s*(?P<work>reads|sorts) (?P<amount>\d+))?\s*\*/\s*")
SCALED = re.compile(r"\{([\d_]+)(?:\s*-\s*(\d+))?\}")


@dataclass(frozen=True)
class Query:
    """One query at the size of this run."""

    name: str
    sql: str
    is_large: bool
    # What bounds the seconds from below: bytes that are read, words that are sorted.
    reads: int = 0
    sorts: int = 0

    @property
    def tables(self) -> set[str]:
        """Names after FROM that are no functions; `extract(minute FROM x)` gives one that is no table."""
        return set(re.findall(r"\bFROM (\w+)\b(?!\s*\()", self.sql))


def scaled_rows(full_size: int, scale: float) -> int:
    """At least 1000, so that the smallest runs still exercise something."""
    return max(1000, round(full_size * scale))


def read_suite(suite: str, scale: float) -> list[Query]:
    """The queries of a suite; without a name of its own a query is called by its number."""

    def number(match: re.Match) -> str:
        return str(scaled_rows(int(match[1].replace("_", "")), scale) - int(match[2] or 0))

    queries = []
    for line in (SQL_FOLDER / f"{suite}.sql").read_text(encoding="utf-8").splitlines():
        sql = line.strip().rstrip(";")
        if not sql:
            continue
        sql = SCALED.sub(number, sql)
        head = HEAD.match(sql)
        if not head:
            queries.append(Query(f"q{len(queries) + 1:02}", sql, False))
            continue
        work = {head["work"]: int(head["amount"])} if head["work"] else {}
        queries.append(Query(head["name"], sql[head.end() :], bool(head["large"]), **work))
    return queries
