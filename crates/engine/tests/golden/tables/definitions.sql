CREATE DATABASE IF NOT EXISTS default;
CREATE TABLE default.mapped UUID 'ced70b0c-6755-4e71-9199-045ca737a153'
(
    `k` UInt32,
    `s` Nullable(String),
    `a` Array(String),
    `m` Map(String, UInt8),
    `d` Decimal(50, 3)
)
ENGINE = Mmap;
CREATE TABLE default.replaced UUID 'b7dcc001-aea3-4997-b4f0-a9efc2a39a40'
(
    `k` UInt8,
    `v` String,
    `ver` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY k
SETTINGS index_granularity = 8192;
CREATE TABLE default.sorted UUID '89c59898-90d0-460b-b9f9-0aa0d76fba4b'
(
    `k` UInt32,
    `d` Date,
    `s` String,
    `lc` LowCardinality(String),
    `n` Nullable(Int16),
    `f` Float64 CODEC(Gorilla(8), ZSTD(3)),
    `t` DateTime64(3, 'UTC') CODEC(DoubleDelta, LZ4),
    `i` UInt64 CODEC(T64, LZ4),
    `p` Decimal(30, 4),
    `u` UUID,
    `x` FixedString(5),
    `a` Array(Nullable(String)),
    `m` Map(String, UInt8),
    `tu` Tuple(
        x Int8,
        y String),
    `e` Enum8('a' = 1, 'b' = 2),
    `c` String CODEC(NONE),
    `m2` UInt32 MATERIALIZED k * 2,
    INDEX ix s TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX im i TYPE minmax GRANULARITY 1,
    INDEX js lc TYPE set(10) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYear(d)
ORDER BY (k % 10, k)
SETTINGS index_granularity = 8192;
-- checksum 7373586503237ba9abb0e5bb3bf7319d
