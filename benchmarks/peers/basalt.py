"""Basalt, through `basalt local --multiquery --time` in one process."""

import re
import subprocess

from peers.sources import read_files
from peers.engine import Engine, Timing
from queries import Query

SECONDS = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
MARK = "end of result"


class Basalt(Engine):
    """Memory tables, or file() in the query; a script for all queries, begun anew behind one that fails."""

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
        creates = []
        if self.setting.source == "memory":
            creates = [
                f"CREATE TABLE {name} ENGINE = Memory AS SELECT * FROM file('{path}')"
                for name, path in self.tables.items()
            ]
        script = "".join(f"{sql};\n" for sql in creates + statements)
        command = [self.setting.binary, "local", "--multiquery", "--time"]
        command += ["--max_threads", str(self.setting.threads)]
        run = subprocess.run(command, input=script.encode(), capture_output=True, check=False)
        lines = run.stderr.decode("utf-8", "replace").splitlines()
        seconds = [float(line) for line in lines if SECONDS.fullmatch(line.strip())]
        error = next((line[:300] for line in lines if line and not SECONDS.fullmatch(line.strip())), "")
        output = run.stdout.decode("utf-8", "surrogateescape")
        if len(seconds) < len(creates):
            raise RuntimeError(f"Basalt cannot load the tables: {error}")
        return seconds[len(creates) :], output, error if run.returncode else ""
