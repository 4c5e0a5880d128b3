"""DataFusion, which Basalt also builds on."""

import re

import datafusion
import pyarrow.parquet

from peers.engine import InProcessEngine, to_standard_sql


class DataFusion(InProcessEngine):
    """Batches in memory, a share of them for each thread, or the files."""

    def version(self) -> str:
        return datafusion.__version__

    def load(self) -> None:
        threads = self.setting.threads
        self.context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(threads))
        columns: set[str] = set()
        for name, path in self.tables.items():
            columns.update(pyarrow.parquet.read_schema(path).names)
            if self.setting.source == "parquet":
                self.context.register_parquet(name, str(path))
                continue
            batches = pyarrow.parquet.read_table(path).to_batches(max_chunksize=65_536)
            share = -(-len(batches) // threads)
            parts = [batches[i : i + share] for i in range(0, len(batches), share)]
            self.context.register_record_batches(name, parts)
        # Names without quotes would be read in lower case.
        self.columns = re.compile(r"\b(%s)\b(?!\()" % "|".join(sorted(c for c in columns if c != c.lower())))

    def translate(self, sql: str) -> str:
        sql = to_standard_sql(sql, "(SELECT value AS number FROM generate_series(0, {} - 1)) AS numbers")
        return self.columns.sub(r'"\1"', sql)

    def run(self, sql: str) -> None:
        for stream in self.context.sql(sql).execute_stream_partitioned():
            for _ in stream:
                pass
