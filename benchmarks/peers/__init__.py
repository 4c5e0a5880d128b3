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
}


def load_engine(name: str):
    """The class of an engine."""
    return getattr(importlib.import_module(f"peers.{name}"), ENGINES[name])
