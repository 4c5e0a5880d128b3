"""Prints the results as tables: seconds of each engine, Basalt against the fastest peer and against ClickHouse."""

import math
import re
import statistics

OURS = "basalt"
CLICKHOUSE = "chdb"


def median(entry: dict) -> float | None:
    seconds = entry.get("seconds") if entry else None
    return statistics.median(seconds) if seconds else None


def first_run(entry: dict) -> float | None:
    return entry.get("first") if entry else None


def fastest_peer(times: dict[str, float | None]) -> float | None:
    peers = [time for engine, time in times.items() if engine != OURS and time is not None]
    return min(peers, default=None)


def geometric_mean(values: list[float]) -> float | None:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def suite_lines(suite: str, results: dict, engines: list[str]) -> list[str]:
    """A table with one line a query; `results` is query -> engine -> {seconds, error}, `check` and `limit`."""
    with_ratios = OURS in engines and len(engines) > 1
    with_limits = OURS in engines and any("limit" in entries for entries in results.values())
    header = ["query", *engines] + (["to fastest peer", "to chDB", "first", "result"] if with_ratios else [])
    header += ["of limit"] if with_limits else []
    rows, to_fastest, to_clickhouse, to_first = [], [], [], []
    for query, entries in results.items():
        times = {engine: median(entries.get(engine)) for engine in engines}
        row = [query, *(seconds_text(times[engine]) for engine in engines)]
        if with_ratios:
            firsts = {engine: first_run(entries.get(engine)) for engine in engines}
            fastest = ratio(fastest_peer(times), times[OURS])
            clickhouse = ratio(times.get(CLICKHOUSE), times[OURS])
            first = ratio(fastest_peer(firsts), firsts[OURS])
            to_fastest += [fastest] if fastest else []
            to_clickhouse += [clickhouse] if clickhouse else []
            to_first += [first] if first else []
            row += [*map(ratio_text, (fastest, clickhouse, first)), entries.get("check", "").split(",")[0]]
        row += [ratio_text(ratio(times[OURS], entries.get("limit")))] if with_limits else []
        rows.append(row)
    means = mean_row(results, engines, [to_fastest, to_clickhouse, to_first] if with_ratios else [])
    rows.append(means + ([""] if with_limits else []))
    return [f"== {suite}", *align([header, *rows]), *error_lines(results, engines)]


def mean_row(results: dict, engines: list[str], ratios: list[list[float]]) -> list[str]:
    """Geometric means: of seconds over the queries that every engine ran, of ratios over all there are."""
    times = [[median(entries.get(engine)) for engine in engines] for entries in results.values()]
    complete = [row for row in times if all(row)]
    row = [f"geometric mean ({len(complete)} run by all)"]
    row += [seconds_text(geometric_mean([times[i] for times in complete])) for i in range(len(engines))]
    return row + [ratio_text(geometric_mean(values)) for values in ratios] + ([""] if ratios else [])


def error_lines(results: dict, engines: list[str]) -> list[str]:
    """Why there are no seconds, or no comparison although there are."""
    lines = []
    for query, entries in results.items():
        errors = {engine: entries.get(engine, {}).get("error") for engine in engines}
        lines += [f"   {query}, {engine}: {error}" for engine, error in errors.items() if error]
        is_explained = any(errors.get(engine) for engine in (OURS, CLICKHOUSE))
        if entries.get("check", "").startswith("not compared") and not is_explained:
            lines.append(f"   {query} {entries['check']}")
    return lines


def ratio(peer: float | None, ours: float | None) -> float | None:
    """How many times faster than the peer we are."""
    return peer / ours if peer and ours else None


def seconds_text(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.4f}"


def ratio_text(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def align(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    is_text = [not re.match(r"[-\d]", cell) for cell in rows[1]]
    return ["  ".join(map(pad, row, widths, is_text)).rstrip() for row in rows]


def pad(cell: str, width: int, is_text: bool) -> str:
    return cell.ljust(width) if is_text else cell.rjust(width)
