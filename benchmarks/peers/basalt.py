"""Basalt, through `basalt local --multiquery --time` in one process."""

import re
import subprocess
import tempfile

from peers.engine import Engine, Load, Timing
from peers.sources import STORED_BYTES, creates, read_files
from queries import Query

SECONDS = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
MARK = "end of result"


class Basalt(Engine):
    """Memory or MergeTree tables, or file() in the query; a script for all queries, begun anew behind one that fails."""

    def version(self) -> str:
        command = [self.setting.binary, "--version"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    def measure(self, queries: list[Query]) -> dict[str, Timing]:
        reps = self.setting.reps + 1
        timings: dict[str, Timing] = {}
        left = list(queries)
        while left:
            statements = [f"{self._with_source(q.sql)} FORMAT Null" for q in left for _ in range(reps)]
            seconds, _, error = self.run_script(statements)
            num_done = len(seconds) // reps
            for index, query in enumerate(left[:num_done]):
                first, *others = seconds[index * reps : (index + 1) * reps]
                timings[query.name] = Timing(others, first=first)
            if num_done < len(left):
                timings[left[num_done].name] = Timing([], error or "ended without an error")
            left = left[num_done + 1 :]
        return timings

    def answers(self, statements: list[str]) -> list[tuple[str, str]]:
        """For each statement its result as TabSeparatedWithNames, or an error."""
        pairs: list[tuple[str, str]] = []
        while len(pairs) < len(statements):
            left = statements[len(pairs) :]
            script = []
            for sql in left:
                script += [f"{self._with_source(sql)} FORMAT TabSeparatedWithNames", f"SELECT '{MARK}' FORMAT TSV"]
            _, output, error = self.run_script(script)
            done = output.split(MARK + "\n")[:-1]
            pairs += [(text, "") for text in done]
            if len(done) < len(left):
                pairs.append(("", error or "ended without an error"))
        return pairs

    def _with_source(self, sql: str) -> str:
        return read_files(sql, self.tables) if self.setting.source == "parquet" else sql

    def run_script(self, statements: list[str]) -> tuple[list[float], str, str]:
        """Seconds of each statement that ran, everything printed, and the error that ended the script."""
        command = [self.setting.binary, "local", "--multiquery", "--time"]
        command += ["--max_threads", str(self.setting.threads)]
        made: list[str] = []
        if self.setting.source == "mergetree":
            command += ["--path", self._folder_with_tables(command)]
        else:
            made = sum(creates(self.setting.source, self.tables), [])
        script = "".join(f"{sql};\n" for sql in made + statements)
        run = subprocess.run(command, input=script.encode(), capture_output=True, check=False)
        lines = run.stderr.decode("utf-8", "replace").splitlines()
        seconds = [float(line) for line in lines if SECONDS.fullmatch(line.strip())]
        error = next((line[:300] for line in lines if line and not SECONDS.fullmatch(line.strip())), "")
        output = run.stdout.decode("utf-8", "surrogateescape")
        if len(seconds) < len(made):
            raise RuntimeError(f"Basalt cannot load the tables: {error}")
        return seconds[len(made) :], output, error if run.returncode else ""

    def _folder_with_tables(self, command: list[str]) -> str:
        """A folder that holds the tables; made once, and gone with the engine."""
        if not self.loaded:
            self.folder = tempfile.TemporaryDirectory(prefix="basalt-bench-")
            statements = creates(self.setting.source, self.tables)
            script = "".join(f"{sql};\n" for table in statements for sql in table) + STORED_BYTES
            command = [*command, "--path", self.folder.name]
            run = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
            lines = run.stderr.splitlines()
            if run.returncode:
                raise RuntimeError(f"Basalt cannot load the tables: {lines[-1:]}")
            seconds = [float(line) for line in lines if SECONDS.fullmatch(line.strip())]
            of_inserts = seconds[:-1:2]  # the others are of OPTIMIZE
            self.loaded = Load(sum(of_inserts), int(run.stdout or 0))
        return self.folder.name
