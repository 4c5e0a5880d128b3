"""ClickHouse, as the Python package chdb."""

import tempfile

import chdb
from chdb import session

from peers.engine import InProcessEngine
from peers.sources import read_files


class ChDB(InProcessEngine):
    """Memory tables, or file() in the query."""

    def version(self) -> str:
        return str(chdb.__version__)

    def load(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="basalt-bench-")  # goes with the engine
        self.session = session.Session(self.folder.name)
        self.session.query(f"SET max_threads = {self.setting.threads}")
        if self.setting.source == "parquet":
            return
        self.session.query("CREATE DATABASE bench")
        self.session.query("USE bench")
        for name, path in self.tables.items():
            self.session.query(f"CREATE TABLE {name} ENGINE = Memory AS SELECT * FROM file('{path}')")

    def translate(self, sql: str) -> str:
        return read_files(sql, self.tables) if self.setting.source == "parquet" else sql

    def run(self, sql: str) -> None:
        self.session.query(f"{sql} FORMAT Null")

    def answers(self, statements: list[str]) -> list[tuple[str, str]]:
        """For each statement its result as TabSeparatedWithNames, or an error; the tables are loaded."""
        pairs = []
        for sql in statements:
            try:
                result = self.session.query(self.translate(sql), "TabSeparatedWithNames").bytes()
                pairs.append((result.decode("utf-8", "surrogateescape"), ""))
            except RuntimeError as error:
                pairs.append(("", str(error).strip()[:300] or "error"))
        return pairs
