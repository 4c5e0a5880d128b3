"""DuckDB."""

import duckdb

from peers.engine import InProcessEngine, to_standard_sql


class DuckDB(InProcessEngine):
    """Tables in memory, or views over the files."""

    def version(self) -> str:
        return duckdb.__version__

    def load(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(f"SET threads = {self.setting.threads}")
        what = "VIEW" if self.setting.source == "parquet" else "TABLE"
        for name, path in self.tables.items():
            self.connection.execute(f"CREATE {what} {name} AS SELECT * FROM '{path}'")

    def translate(self, sql: str) -> str:
        sql = to_standard_sql(sql, "(SELECT range::UBIGINT AS number FROM range({})) AS numbers")
        return sql.replace("INT UNSIGNED", "UINTEGER")

    def run(self, sql: str) -> None:
        # Reads the result in batches and drops them, as a client would.
        for _ in self.connection.sql(sql).to_arrow_reader(1 << 20):
            pass
