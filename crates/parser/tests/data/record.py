"""Records how ClickHouse formats and explains the statements of statements.sql.

    python record.py > statements.golden        (needs the PyPI package chdb)

One statement a line; what ClickHouse does not accept is recorded as an error.
"""
import pathlib

import chdb

HERE = pathlib.Path(__file__).parent
CONNECTION = chdb.connect(":memory:")


def ask(sql):
    try:
        return str(CONNECTION.query(sql, "TSVRaw")).rstrip("\n")
    except Exception as error:
        return "!! " + str(error).split("\n")[0].split(":")[1].split(".")[0].strip()


def quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


lines = (HERE / "statements.sql").read_text().splitlines()
lines += [line.rstrip(";") for line in (HERE / "clickbench.sql").read_text().splitlines()]
for line in lines:
    if not line or line.startswith("--"):
        continue
    print("### " + line)
    print("--- one line\n" + ask(f"SELECT formatQuerySingleLine({quote(line)})"))
    print("--- lines\n" + ask(f"SELECT formatQuery({quote(line)})"))
    print("--- tree\n" + ask("EXPLAIN AST " + line))
