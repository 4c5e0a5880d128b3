"""ClickHouse, as the Python package chdb."""

import tempfile
import time

import chdb
from chdb import session

from peers.engine import InProcessEngine, Load
from peers.sources import STORED_BYTES, creates, read_files


class ChDB(InProcessEngine):
    """Memory or MergeTree tables, or file() in the query."""

    def version(self) -> str:
        return str(chdb.__version__)

    def load(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="basalt-bench-", ignore_cleanup_errors=True)
        self.session = session.Session(self.folder.name)
        self.session.query(f"SET max_threads = {self.setting.threads}")
        self.session.query("CREATE DATABASE bench")
        self.session.query("USE bench")
        seconds = 0.0
        for create, *others in creates(self.setting.source, self.tables):
            start = time.perf_counter()
            self.session.query(create)
            seconds += time.perf_counter() - start
            for statement in others:
                self.session.query(statement)
        if self.setting.source == "mergetree":
            self.loaded = Load(seconds, int(self.session.query(STORED_BYTES, "TSV").bytes()))

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
