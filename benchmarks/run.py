#!/usr/bin/env python3
"""Runs the benchmark queries on Basalt and its peers side by side, checks the results and prints one table a suite.

    benchmarks/run.py [BINARY] [--rows 0.1] [--queries REGEX] [--engines basalt,chdb] [--reps 5] [--source memory]

BINARY is the basalt program, needed only if the engine `basalt` takes part. Every engine runs a suite in a process of
its own, one after the other. The peers come from the Python environment that benchmarks/setup.sh makes.
See benchmarks/README.md.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

sys.dont_write_bytecode = True  # the clone stays as it is

import check
import limits
import report
from peers import ENGINES, USUAL, load_engine
from peers.engine import Setting, Timing, first_line
from queries import SUITES, Query, read_suite
from tables import cache_folder, suite_files

COMPARED = ("basalt", "chdb")
SOURCES = ("memory", "mergetree", "parquet")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", default="", help="the basalt program")
    parser.add_argument("--rows", type=float, default=0.1, help="scale of all tables, 1 is full size (default 0.1)")
    parser.add_argument("--suites", default=",".join(SUITES), help="which suites, separated by commas (default all)")
    parser.add_argument("--queries", default="", help="only queries whose suite.name matches this regular expression")
    engines = "which engines, separated by commas (default all but chdb_jit)"
    parser.add_argument("--engines", default=",".join(USUAL), help=engines)
    parser.add_argument("--reps", type=int, default=5, help="runs of each query after one to warm up (default 5)")
    parser.add_argument("--source", choices=SOURCES, default="memory", help="loaded tables, tables on disk, or files")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of each engine (default all)")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds after which a query is not repeated")
    parser.add_argument("--out", type=Path, help="write everything measured to this JSON file")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    enter_environment()
    arguments = parse_arguments()
    if arguments.worker:
        return work(arguments.worker)
    engines = [name for name in arguments.engines.split(",") if name]
    unknown = [name for name in engines if name not in ENGINES]
    unknown += [name for name in arguments.suites.split(",") if name not in SUITES]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; engines are {', '.join(ENGINES)}, suites {', '.join(SUITES)}")
    if arguments.source == "mergetree":
        engines = [name for name in engines if name in COMPARED]
        if not engines:
            sys.exit(f"only {' and '.join(COMPARED)} have MergeTree tables")
    if "basalt" in engines and not arguments.binary:
        sys.exit("give the basalt program as the first argument, or leave basalt out: --engines chdb,duckdb")
    if arguments.binary:
        arguments.binary = str(Path(arguments.binary).resolve())

    record = describe_run(arguments)
    suites = {suite: chosen_queries(suite, arguments) for suite in arguments.suites.split(",")}
    machine = limits.measure(arguments.binary, arguments.threads, [query for some in suites.values() for query in some])
    record["limits"] = machine
    for suite, queries in suites.items():
        if queries:
            results = run_suite(suite, queries, engines, arguments, record)
            for query in queries:
                if limit := limits.seconds(query, machine):
                    results[query.name]["limit"] = limit
            record["suites"][suite] = results
            print("\n".join(report.suite_lines(suite, results, engines)), flush=True)
            print()
    if arguments.out:
        arguments.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    checks = [entries.get("check") for results in record["suites"].values() for entries in results.values()]
    return 1 if "DIFFERENT" in checks else 0


def chosen_queries(suite: str, arguments: argparse.Namespace) -> list[Query]:
    queries = read_suite(suite, arguments.rows)
    return [query for query in queries if re.search(arguments.queries, f"{suite}.{query.name}")]


def enter_environment() -> None:
    """Starts again with the Python that has the peers, if this is another one."""
    peers = Path(os.environ.get("BASALT_PEERS") or cache_folder() / "peers")
    python = peers / "bin" / "python"
    if Path(sys.prefix).resolve() != peers.resolve() and python.exists():
        os.execv(python, [str(python), *sys.argv])


def describe_run(arguments: argparse.Namespace) -> dict:
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "threads": arguments.threads,
        "rows": arguments.rows,
        "source": arguments.source,
        "reps": arguments.reps,
        "versions": {},
        "loads": {},
        "suites": {},
    }


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*:\s*(.*)", cpuinfo.read_text()) if cpuinfo.exists() else []
    return names[0] if names else platform.processor()


def run_suite(suite: str, queries: list[Query], engines: list[str], arguments, record: dict) -> dict:
    """Query -> engine -> timing, and the check's verdict."""
    needed = set().union(*(query.tables for query in queries))
    tables = suite_files(suite, needed, arguments.rows, arguments.binary)
    setting = Setting(arguments.source, arguments.reps, arguments.threads, arguments.limit, arguments.binary)
    results: dict[str, dict] = {query.name: {} for query in queries}
    answers = {}
    for engine in engines:
        print(f"{suite}: {engine}", file=sys.stderr, flush=True)
        task = {
            "engine": engine,
            "setting": asdict(setting),
            "tables": {name: str(path) for name, path in tables.items()},
            "queries": [asdict(query) for query in queries],
            "compare": engine in COMPARED and all(name in engines for name in COMPARED),
        }
        reply = run_worker(task)
        record["versions"].setdefault(engine, reply.get("version", ""))
        for query in queries:
            lost = {"seconds": [], "error": reply.get("error", "not run")}
            results[query.name][engine] = reply.get("timings", {}).get(query.name, lost)
        answers[engine] = reply.get("answers", {})
        if loaded := reply.get("loaded"):
            record["loads"].setdefault(suite, {})[engine] = loaded
            print(f"{suite}: {engine} wrote the tables in {loaded['seconds']:.2f} s, {loaded['bytes']:,} bytes", flush=True)
    for query in queries:
        ours, theirs = (answers.get(engine, {}).get(query.name) for engine in COMPARED)
        if ours and theirs:
            results[query.name]["check"] = check.verdict(query, ours, theirs)
    return results


def run_worker(task: dict) -> dict:
    """Lets a process of its own do the task, so that engines do not share memory."""
    with tempfile.TemporaryDirectory(prefix="basalt-bench-") as folder:
        path = Path(folder) / "task.json"
        path.write_text(json.dumps(task), encoding="utf-8")
        ended = subprocess.run([sys.executable, __file__, "--worker", str(path)], check=False)
        reply = path.with_suffix(".reply")
        if reply.exists():
            return json.loads(reply.read_text(encoding="utf-8"))
        return {"error": f"the process ended with {ended.returncode}"}


def work(path: Path) -> int:
    """The other side of `run_worker`."""
    task = json.loads(path.read_text(encoding="utf-8"))
    try:
        reply = do_task(task)
    except Exception as error:  # Whatever an engine throws is its result.
        reply = {"error": first_line(error)}
    path.with_suffix(".reply").write_text(json.dumps(reply), encoding="utf-8")
    return 0


def do_task(task: dict) -> dict:
    queries = [Query(**query) for query in task["queries"]]
    tables = {name: Path(file) for name, file in task["tables"].items()}
    engine = load_engine(task["engine"])(Setting(**task["setting"]), tables)
    timings: dict[str, Timing] = engine.measure(queries)
    reply = {
        "version": engine.version(),
        "timings": {name: asdict(timing) for name, timing in timings.items()},
    }
    if engine.loaded:
        reply["loaded"] = asdict(engine.loaded)
    if task["compare"]:
        statements = [(query.name, sql) for query in queries for sql in check.statements(query)]
        reply["answers"] = {query.name: [] for query in queries}
        for (name, _), answer in zip(statements, engine.answers([sql for _, sql in statements])):
            reply["answers"][name].append(answer)
    return reply


if __name__ == "__main__":
    sys.exit(main())
