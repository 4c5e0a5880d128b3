"""ClickHouse, as the Python package chdb, with its compiler at work from the first run on."""

from peers.chdb import ChDB

# It compiles what it has met so often; by default, the fourth run is the first one of compiled code.
COUNTS = (
    "min_count_to_compile_expression",
    "min_count_to_compile_aggregate_expression",
    "min_count_to_compile_sort_description",
    "min_count_to_compile_regular_expression",
)


class CompilingChDB(ChDB):
    """As ChDB."""

    def load(self) -> None:
        super().load()
        for name in COUNTS:
            self.session.query(f"SET {name} = 0")
