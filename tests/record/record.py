#!/usr/bin/env python3
"""Records the expected output of the SQL tests from ClickHouse itself.

    python3 tests/record/record.py                     rewrite every file under tests/sql
    python3 tests/record/record.py tests/sql/joins     rewrite one folder or file
    python3 tests/record/record.py --check             change nothing, fail if a file is out of date

The `.slt` file is the source: a record is its SQL, whatever expectation stands below it is replaced by what ClickHouse
answers. ClickHouse comes as the Python package `chdb` (`pip install chdb==4.4.0`). The format of the
files and the rules for writing them are in tests/sql/README.md.
"""

import argparse
import difflib
import multiprocessing
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SQL_ROOT = Path(__file__).resolve().parent.parent / "sql"
ORACLE_VERSION = "4.4.0"
RESULTS_DELIMITER = "----"
EMPTY_LINE = "(empty)"
DIFFERS_MARK = "# basalt-differs:"
QUERY_HEADER = re.compile(r"query T( rowsort)?")
STATEMENT_HEADER = re.compile(r"statement (ok|error( Code: \d+\\\.)?)")
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
RETURNS_ROWS = re.compile(r"\s*\(*\s*(SELECT|WITH|SHOW|DESCRIBE|DESC|EXISTS|EXPLAIN|CHECK|VALUES|FROM)\b", re.IGNORECASE)


@dataclass
class Comment:
    """Lines starting with `#`, kept as they are."""

    lines: list[str]

    def render(self) -> list[str]:
        return self.lines


@dataclass
class Record:
    """One statement with its expectation."""

    line: int
    header: str
    sql: list[str]
    expected: list[str] = field(default_factory=list)
    differs: bool = False

    def render(self) -> list[str]:
        if not self.header.startswith("query"):
            return [self.header, *self.sql]
        return [self.header, *self.sql, RESULTS_DELIMITER, *self.expected]


class FormatError(Exception):
    """The file does not follow the rules of tests/sql/README.md."""


def parse(text: str) -> list[Comment | Record]:
    """Splits a file into comments and records."""
    items: list[Comment | Record] = []
    lines = text.split("\n")
    if not lines or not lines[0].startswith("# description: "):
        raise FormatError("1: the first line must be '# description: ...'")
    position = 0
    while position < len(lines):
        if not lines[position]:
            position += 1
            continue
        end = position
        if lines[position].startswith("#"):
            while end < len(lines) and lines[end].startswith("#"):
                end += 1
            items.append(Comment(lines[position:end]))
        else:
            while end < len(lines) and lines[end]:
                end += 1
            items.append(parse_record(lines[position:end], position + 1, items))
        position = end
    return items


def parse_record(lines: list[str], number: int, before: list[Comment | Record]) -> Record:
    """Reads one block of lines as a record."""
    header = lines[0]
    if not QUERY_HEADER.fullmatch(header) and not STATEMENT_HEADER.fullmatch(header):
        raise FormatError(f"{number}: unknown record header: {header}")
    body = lines[1:]
    split = body.index(RESULTS_DELIMITER) if RESULTS_DELIMITER in body else len(body)
    if split == 0:
        raise FormatError(f"{number}: a record without SQL")
    differs = bool(before) and isinstance(before[-1], Comment) and before[-1].lines[-1].startswith(DIFFERS_MARK)
    return Record(number, header, body[:split], body[split + 1 :], differs)


def render(items: list[Comment | Record]) -> str:
    """Lays a file out: one empty line between records, comments directly above what they explain."""
    lines: list[str] = []
    previous: Comment | Record | None = None
    for item in items:
        under_comment = isinstance(previous, Comment) and previous is not items[0]
        if previous is not None and not (under_comment and isinstance(item, Record)):
            lines.append("")
        lines.extend(item.render())
        previous = item
    return "\n".join(lines) + "\n"


def expect(record: Record, output: bytes) -> None:
    """Writes what ClickHouse returned into the record."""
    if record.header == "statement ok":
        return
    if record.header.startswith("statement") and not RETURNS_ROWS.match(record.sql[0]):
        record.header = "statement ok"
        record.expected = []
        return
    if not record.header.startswith("query"):
        record.header = "query T"
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{record.line}: the output is not UTF-8, print it with hex()") from error
    if CONTROL_CHARACTER.search(text):
        raise FormatError(f"{record.line}: the output has a control character, print it with hex()")
    rows = text.removesuffix("\n").split("\n") if text else []
    if record.header.endswith("rowsort"):
        rows.sort(key=lambda row: row.encode())
    record.expected = [row or EMPTY_LINE for row in rows]


def run_file(path: Path) -> tuple[Path, str, str, int]:
    """Runs one file in a session of its own; returns its old text, its new text and the number of records."""
    from chdb import session

    old = path.read_text(encoding="utf-8")
    items = parse(old)
    records = [item for item in items if isinstance(item, Record)]
    with tempfile.TemporaryDirectory() as folder:
        database = session.Session(folder)
        # chDB reads `foo bar` as `SELECT foo bar` unless told otherwise.
        database.query("SET implicit_select = 0")
        for record in records:
            try:
                output = database.query("\n".join(record.sql), "TabSeparated").bytes()
                if not record.differs:
                    expect(record, output)
            except FormatError:
                raise
            except Exception as error:  # chDB has more than one class for what ClickHouse reports
                code = re.search(r"Code: (\d+)", str(error))
                if not code:
                    raise FormatError(f"{record.line}: an error without a code: {error}") from error
                if not record.differs:
                    record.header = f"statement error Code: {code[1]}\\."
                    record.expected = []
        database.close()
    return path, old, render(items), len(records)


def run_file_safely(path: Path) -> tuple[Path, str, str, int] | tuple[Path, str]:
    """Like `run_file`, with failures as text so that they cross the process border."""
    try:
        return run_file(path)
    except (FormatError, OSError) as error:
        return path, f"{path}:{error}"


def collect(paths: list[Path]) -> list[Path]:
    """All `.slt` files below the given files and folders."""
    files: list[Path] = []
    for path in paths:
        files.extend(sorted(path.rglob("*.slt")) if path.is_dir() else [path])
    return files


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("paths", nargs="*", type=Path, default=[SQL_ROOT])
    arguments.add_argument("--check", action="store_true", help="change nothing, fail if a file is out of date")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="files run at the same time")
    options = arguments.parse_args()
    try:
        import chdb
    except ImportError:
        print(f"the Python package chdb is missing: pip install chdb=={ORACLE_VERSION}", file=sys.stderr)
        return 2
    if chdb.__version__ != ORACLE_VERSION:
        print(f"warning: chdb {chdb.__version__}, the files were recorded with {ORACLE_VERSION}", file=sys.stderr)

    os.environ["TZ"] = "UTC"
    files = collect(options.paths)
    total = failed = changed = 0
    # chDB keeps one database per process, so every file gets a process of its own.
    context = multiprocessing.get_context("spawn")
    with context.Pool(options.jobs, maxtasksperchild=1) as pool:
        for result in pool.imap(run_file_safely, files, chunksize=1):
            if len(result) == 2:
                failed += 1
                print(result[1], file=sys.stderr)
                continue
            path, old, new, count = result
            total += count
            if old == new:
                continue
            changed += 1
            if options.check:
                sys.stdout.writelines(
                    difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(path), "ClickHouse", n=2)
                )
            else:
                path.write_text(new, encoding="utf-8")
                print(f"recorded {path}")
    print(f"{len(files)} files, {total} statements, {changed} changed, {failed} failed")
    return 1 if failed or (options.check and changed) else 0


if __name__ == "__main__":
    sys.exit(main())
