"""Polars, its SQL interface and streaming engine."""

import os
import re

from peers.engine import InProcessEngine, Setting, to_standard_sql


class Polars(InProcessEngine):
    """Frames in memory, or scans of the files."""

    def __init__(self, setting: Setting, tables):
        super().__init__(setting, tables)
        # Polars reads this when it is imported.
        os.environ["POLARS_MAX_THREADS"] = str(setting.threads)
        import polars

        self.polars = polars

    def version(self) -> str:
        return self.polars.__version__

    def load(self) -> None:
        scan = self.polars.scan_parquet
        if self.setting.source == "memory":
            scan = lambda path: self.polars.read_parquet(path).lazy()  # noqa: E731
        self.context = self.polars.SQLContext({name: scan(path) for name, path in self.tables.items()})

    def translate(self, sql: str) -> str:
        sql = to_standard_sql(sql, "numbers_{}")
        for rows in re.findall(r"\bnumbers_(\d+)\b", sql):
            numbers = self.polars.int_range(0, int(rows), dtype=self.polars.UInt64).alias("number")
            self.context.register(f"numbers_{rows}", self.polars.select(numbers).lazy())
        return sql

    def run(self, sql: str) -> None:
        self.context.execute(sql).collect(engine="streaming")
