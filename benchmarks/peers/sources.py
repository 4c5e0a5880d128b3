"""Where queries in ClickHouse's dialect read from: tables in memory or on disk, or files."""

import re
from pathlib import Path


def read_files(sql: str, tables: dict[str, Path]) -> str:
    """The query with every table replaced by its file."""
    return re.sub(
        r"\bFROM (\w+)\b",
        lambda match: f"FROM file('{tables[match[1]]}')" if match[1] in tables else match[0],
        sql,
    )


# What the tables on disk take, without parts that were merged into others.
STORED_BYTES = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase()"
ENGINES = {"memory": "Memory", "mergetree": "MergeTree ORDER BY tuple()"}


def creates(source: str, tables: dict[str, Path]) -> list[list[str]]:
    """The statements that make each table; none if queries read the files."""
    if source not in ENGINES:
        return []
    made = []
    for name, path in tables.items():
        made.append([f"CREATE TABLE {name} ENGINE = {ENGINES[source]} AS SELECT * FROM file('{path}')"])
        if source == "mergetree":
            made[-1].append(f"OPTIMIZE TABLE {name} FINAL")
    return made
