"""Compares Basalt's results with ClickHouse's.

Short results are compared row by row in sorted order, floats with a relative tolerance. A long one is compared by its
number of rows and the sum of its rows' hashes. Where LIMIT leaves a choice between equal rows, two right results may
differ: then the column that is sorted by must be equal, and so must the checksum of the query without ORDER BY and
LIMIT.
"""

import math
import re

from queries import Query

TOLERANCE = 1e-9
TAIL = re.compile(r"( ORDER BY (?P<keys>(?:(?! ORDER BY ).)*?))?( LIMIT \d+( OFFSET \d+)?)?$")

Answer = tuple[str, str]  # text with a line of names, error


def statements(query: Query) -> list[str]:
    """What to run on both engines to compare the query's results."""
    body = TAIL.sub("", query.sql, count=1)
    checksum = f"SELECT count(), sum(cityHash64(*)) FROM ({body if ' LIMIT ' in query.sql else query.sql})"
    if query.is_large:
        # What LIMIT without ORDER BY takes is up to the engine; the length is not.
        return [f"SELECT count() FROM ({query.sql})" if " LIMIT " in query.sql else checksum]
    return [query.sql, checksum] if " LIMIT " in query.sql else [query.sql]


def verdict(query: Query, ours: list[Answer], theirs: list[Answer]) -> str:
    """`equal`, `equal but for ties`, or what is wrong."""
    for position in range(len(ours)):
        for name, answers in (("Basalt", ours), ("chDB", theirs)):
            if answers[position][1]:
                return f"not compared, {name}: {answers[position][1]}"
        if equal_tables(ours[position][0], theirs[position][0]):
            if position == 0:
                return "equal"
            if equal_keys(query, ours[0][0], theirs[0][0]):
                return "equal but for ties"
    return "DIFFERENT"


def rows_of(text: str) -> tuple[list[str], list[list[str]]]:
    lines = [line.split("\t") for line in text.split("\n")[:-1]]
    return (lines[0], lines[1:]) if lines else ([], [])


def equal_tables(left: str, right: str) -> bool:
    """The same rows in any order; names of columns do not count."""
    return equal_rows(rows_of(left)[1], rows_of(right)[1])


def equal_keys(query: Query, left: str, right: str) -> bool:
    """The same values, and number of rows, in the sort key, if it is a column of the result."""
    (names, ours), (_, theirs) = rows_of(left), rows_of(right)
    keys = TAIL.search(query.sql)["keys"] or ""
    key = re.sub(r" (ASC|DESC)$", "", keys.split(", ")[0]).lower().replace("count(*)", "count()")
    lower_names = [name.lower() for name in names]
    if key not in lower_names:
        return len(ours) == len(theirs)
    position = lower_names.index(key)
    return equal_rows([[row[position]] for row in ours], [[row[position]] for row in theirs])


def equal_rows(left: list[list[str]], right: list[list[str]]) -> bool:
    if len(left) != len(right):
        return False
    pairs = zip(sorted(left, key=sort_key), sorted(right, key=sort_key))
    return all(len(a) == len(b) and all(map(equal_cells, a, b)) for a, b in pairs)


def sort_key(row: list[str]) -> list[str]:
    """Floats rounded, so that their last digits do not change the order."""
    return [f"{float(cell):.6g}" if is_float(cell) else cell for cell in row]


def is_float(cell: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", cell) is not None and not re.fullmatch(r"-?\d+", cell)


def equal_cells(a: str, b: str) -> bool:
    if a == b:
        return True
    # An integer is how a float without a fraction prints.
    if not (is_float(a) or is_float(b)):
        return False
    try:
        return math.isclose(float(a), float(b), rel_tol=TOLERANCE)
    except ValueError:
        return False
