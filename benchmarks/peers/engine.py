"""What every engine offers, and how an engine that runs inside this Python process is measured."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

from queries import Query


@dataclass(frozen=True)
class Setting:
    """How to measure; the same for all engines."""

    source: str  # "memory", "mergetree": tables are loaded first; "parquet": every query reads the file
    reps: int
    threads: int
    limit_seconds: float  # a query that has used so much is not repeated
    binary: str = ""  # the basalt program


@dataclass
class Timing:
    """Seconds of every run after the first one, or why there are none; and of the first one."""

    seconds: list[float]
    error: str = ""
    first: float | None = None


@dataclass
class Load:
    """What it took to make the tables on disk: seconds of INSERT, and bytes afterwards."""

    seconds: float
    bytes: int


class Engine:
    """An engine with the tables of one suite."""

    def __init__(self, setting: Setting, tables: dict[str, Path]):
        self.setting = setting
        self.tables = tables
        self.loaded: Load | None = None

    def version(self) -> str:
        raise NotImplementedError

    def measure(self, queries: list[Query]) -> dict[str, Timing]:
        raise NotImplementedError


class InProcessEngine(Engine):
    """An engine that is a Python package: `load` makes the tables, `run` runs a query and drops its result."""

    def load(self) -> None:
        raise NotImplementedError

    def run(self, sql: str) -> None:
        raise NotImplementedError

    def translate(self, sql: str) -> str:
        """The query in the engine's own dialect."""
        return sql

    def measure(self, queries: list[Query]) -> dict[str, Timing]:
        self.load()
        return {query.name: self._measure_one(query.sql) for query in queries}

    def _measure_one(self, sql: str) -> Timing:
        seconds: list[float] = []
        begin = time.perf_counter()
        try:
            sql = self.translate(sql)
            for _ in range(self.setting.reps + 1):
                start = time.perf_counter()
                self.run(sql)
                seconds.append(time.perf_counter() - start)
                if time.perf_counter() - begin > self.setting.limit_seconds:
                    break
        except BaseException as error:  # Polars and DataFusion panic with exceptions that are no Exception.
            if isinstance(error, KeyboardInterrupt):
                raise
            return Timing([], first_line(error))
        # The first run warms up, unless it was the only one.
        return Timing(seconds[1:] or seconds, first=seconds[0])


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def to_standard_sql(sql: str, numbers: str) -> str:
    """ClickHouse's words as most others spell them; `numbers` stands for numbers(n), with n as {}."""
    sql = re.sub(r"\bnumbers(?:_mt)?\((?:toUInt32\((\d+)\)|(\d+))\)", lambda m: numbers.format(m[1] or m[2]), sql)
    sql = re.sub(r"\bcount\(\)", "count(*)", sql)
    sql = re.sub(r"\buniqExact\((\w+)\)", r"count(DISTINCT \1)", sql)
    sql = re.sub(r"\btoUInt32\(1e(\d)\)", lambda m: str(10 ** int(m[1])), sql)
    sql = re.sub(r"\btoUInt32\((\w+)\)", r"CAST(\1 AS INT UNSIGNED)", sql)
    sql = re.sub(r"\bbitNot\(", "~(", sql)
    return re.sub(r"\bbitCount\(", "bit_count(", sql)
