"""The engines that are measured, by name.

Their modules are imported when they are needed, so that one that is not installed disturbs only itself.
"""

import importlib

ENGINES = {
    "basalt": "Basalt",
    "chdb": "ChDB",
    "duckdb": "DuckDB",
    "polars": "Polars",
    "datafusion": "DataFusion",
    "chdb_jit": "CompilingChDB",
}

# Those that are measured if none are named.
USUAL = ("basalt", "chdb", "duckdb", "polars", "datafusion")


def load_engine(name: str):
    """The class of an engine."""
    return getattr(importlib.import_module(f"peers.{name}"), ENGINES[name])
