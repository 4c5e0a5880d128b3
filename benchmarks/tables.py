"""Generates the Parquet files that the suites read, once, with `basalt datagen`."""

import os
import subprocess
import sys
from pathlib import Path

from queries import SUITES, scaled_rows

PROJECT = Path(__file__).resolve().parent.parent


def cache_folder() -> Path:
    """Where what is generated and installed lies, outside the clone."""
    return Path(os.environ.get("BASALT_CACHE") or Path.home() / ".cache" / "basalt")


def suite_files(suite: str, needed: set[str], scale: float, binary: str) -> dict[str, Path]:
    """The file of each table of the suite that is needed; makes those that are not there."""
    return {
        table: ensure_file(kind, scaled_rows(rows, scale), binary)
        for table, (kind, rows) in SUITES[suite].items()
        if table in needed
    }


def ensure_file(kind: str, rows: int, binary: str) -> Path:
    """The file of a generated table."""
    path = cache_folder() / "tables" / f"{kind}-{rows}.parquet"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"generating {rows:,} rows of {kind}", file=sys.stderr)
    if binary:
        command = [binary, "datagen", kind, "--rows", str(rows), "--out", str(path)]
    else:
        # Without the program, the example of the crate does the same.
        command = ["cargo", "run", "--quiet", "--release", "--package", "basalt-datagen", "--example", "datagen"]
        command += ["--", kind, str(rows), str(path)]
    subprocess.run(command, cwd=PROJECT, check=True, stdout=sys.stderr)
    return path
