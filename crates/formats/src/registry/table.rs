//! The table of formats.

use Can::{Both, Read, Split, Write};

use super::Header::{self, Names, NamesAndTypes};
use super::Kind as K;
use super::{FormatEntry, Grid, Kind};

/// What a format can do.
#[derive(Clone, Copy)]
enum Can {
    Read,
    Write,
    Both,
    /// Both, and its text splits at row ends.
    Split,
}

const fn entry(name: &'static str, kind: Kind, can: Can, description: &'static str) -> FormatEntry {
    FormatEntry {
        name,
        kind,
        is_input: !matches!(can, Write),
        is_output: !matches!(can, Read),
        splits: matches!(can, Split),
        description,
    }
}

const fn pretty(grid: Grid, escapes: bool) -> Kind {
    K::Pretty { grid, escapes }
}

const fn each_row(strings: bool, pretty: bool) -> Kind {
    K::JsonEachRow { strings, pretty }
}

const fn with_progress(compact: bool, strings: bool) -> Kind {
    K::JsonEachRowWithProgress { compact, strings }
}

const fn compact_row(strings: bool, header: Header) -> Kind {
    K::JsonCompactEachRow { strings, header }
}

const fn json(compact: bool, strings: bool) -> Kind {
    K::Json { compact, strings }
}

const TSV: &str = "Values separated by tabs, special characters escaped with a backslash";
const RAW: &str = "Values separated by tabs, nothing escaped";
const CSV: &str = "Comma separated values";
const NDJSON: &str = "One JSON object per line";
const JSON_ROW: &str = "One JSON array per line";
const JSON_STRING_ROW: &str = "One JSON array per line, all values strings";
const TABLE: &str = "A table with a grid for reading on a terminal";
const COMPACT: &str = "A table with a grid around it for reading on a terminal";
const SPACE: &str = "A table without a grid for reading on a terminal";
const CUSTOM: &str = "Values with what the settings put around and between them";
const BINARY: &str = "Rows in binary, value by value";

/// Every format.
pub const FORMATS: &[FormatEntry] = &[
    entry("TabSeparated", K::TabSeparated(Header::None), Split, TSV),
    entry("TSV", K::TabSeparated(Header::None), Split, TSV),
    entry("TabSeparatedWithNames", K::TabSeparated(Names), Split, TSV),
    entry("TSVWithNames", K::TabSeparated(Names), Split, TSV),
    entry(
        "TabSeparatedWithNamesAndTypes",
        K::TabSeparated(NamesAndTypes),
        Split,
        TSV,
    ),
    entry(
        "TSVWithNamesAndTypes",
        K::TabSeparated(NamesAndTypes),
        Split,
        TSV,
    ),
    entry(
        "TabSeparatedRaw",
        K::TabSeparatedRaw(Header::None),
        Split,
        RAW,
    ),
    entry("TSVRaw", K::TabSeparatedRaw(Header::None), Split, RAW),
    entry("Raw", K::TabSeparatedRaw(Header::None), Split, RAW),
    entry(
        "TabSeparatedRawWithNames",
        K::TabSeparatedRaw(Names),
        Split,
        RAW,
    ),
    entry("TSVRawWithNames", K::TabSeparatedRaw(Names), Split, RAW),
    entry("RawWithNames", K::TabSeparatedRaw(Names), Split, RAW),
    entry(
        "TabSeparatedRawWithNamesAndTypes",
        K::TabSeparatedRaw(NamesAndTypes),
        Split,
        RAW,
    ),
    entry(
        "TSVRawWithNamesAndTypes",
        K::TabSeparatedRaw(NamesAndTypes),
        Split,
        RAW,
    ),
    entry(
        "RawWithNamesAndTypes",
        K::TabSeparatedRaw(NamesAndTypes),
        Split,
        RAW,
    ),
    entry("CSV", K::Csv(Header::None), Split, CSV),
    entry("CSVWithNames", K::Csv(Names), Split, CSV),
    entry("CSVWithNamesAndTypes", K::Csv(NamesAndTypes), Split, CSV),
    entry(
        "JSON",
        json(false, false),
        Both,
        "One JSON document with types, rows and statistics",
    ),
    entry(
        "JSONCompact",
        json(true, false),
        Both,
        "As JSON, rows are arrays",
    ),
    entry(
        "JSONStrings",
        json(false, true),
        Write,
        "As JSON, all values strings",
    ),
    entry(
        "JSONCompactStrings",
        json(true, true),
        Write,
        "As JSONCompact, all values strings",
    ),
    entry(
        "JSONColumns",
        K::JsonColumns {
            compact: false,
            metadata: false,
        },
        Both,
        "One JSON object of columns",
    ),
    entry(
        "JSONCompactColumns",
        K::JsonColumns {
            compact: true,
            metadata: false,
        },
        Both,
        "One JSON array of columns",
    ),
    entry(
        "JSONColumnsWithMetadata",
        K::JsonColumns {
            compact: false,
            metadata: true,
        },
        Both,
        "As JSON, by columns",
    ),
    entry("JSONEachRow", each_row(false, false), Split, NDJSON),
    entry("JSONLines", each_row(false, false), Split, NDJSON),
    entry("JSONL", each_row(false, false), Split, NDJSON),
    entry("NDJSON", each_row(false, false), Split, NDJSON),
    entry(
        "PrettyJSONEachRow",
        each_row(false, true),
        Write,
        "JSON objects over several lines",
    ),
    entry(
        "PrettyJSONLines",
        each_row(false, true),
        Write,
        "JSON objects over several lines",
    ),
    entry(
        "PrettyNDJSON",
        each_row(false, true),
        Write,
        "JSON objects over several lines",
    ),
    entry(
        "JSONStringsEachRow",
        each_row(true, false),
        Split,
        "One JSON object per line, all values strings",
    ),
    entry(
        "JSONEachRowWithProgress",
        with_progress(false, false),
        Write,
        "As JSONEachRow, with progress",
    ),
    entry(
        "JSONStringsEachRowWithProgress",
        with_progress(false, true),
        Write,
        "As JSONStringsEachRow, with progress",
    ),
    entry(
        "JSONCompactEachRowWithProgress",
        with_progress(true, false),
        Write,
        "As JSONCompactEachRow, with progress",
    ),
    entry(
        "JSONCompactStringsEachRowWithProgress",
        with_progress(true, true),
        Write,
        "As JSONCompactStringsEachRow, with progress",
    ),
    entry(
        "CustomSeparated",
        K::CustomSeparated(Header::None),
        Both,
        CUSTOM,
    ),
    entry(
        "CustomSeparatedWithNames",
        K::CustomSeparated(Names),
        Both,
        CUSTOM,
    ),
    entry(
        "CustomSeparatedWithNamesAndTypes",
        K::CustomSeparated(NamesAndTypes),
        Both,
        CUSTOM,
    ),
    entry(
        "Regexp",
        K::Regexp,
        Read,
        "Lines that match a regular expression, whose groups are the values",
    ),
    entry(
        "Template",
        K::Template,
        Write,
        "Rows after a pattern of the settings",
    ),
    entry(
        "JSONCompactEachRow",
        compact_row(false, Header::None),
        Split,
        JSON_ROW,
    ),
    entry(
        "JSONCompactEachRowWithNames",
        compact_row(false, Names),
        Split,
        JSON_ROW,
    ),
    entry(
        "JSONCompactEachRowWithNamesAndTypes",
        compact_row(false, NamesAndTypes),
        Split,
        JSON_ROW,
    ),
    entry(
        "JSONCompactStringsEachRow",
        compact_row(true, Header::None),
        Split,
        JSON_STRING_ROW,
    ),
    entry(
        "JSONCompactStringsEachRowWithNames",
        compact_row(true, Names),
        Split,
        JSON_STRING_ROW,
    ),
    entry(
        "JSONCompactStringsEachRowWithNamesAndTypes",
        compact_row(true, NamesAndTypes),
        Split,
        JSON_STRING_ROW,
    ),
    entry(
        "JSONObjectEachRow",
        K::JsonObjectEachRow,
        Both,
        "One JSON object with a member per row",
    ),
    entry(
        "JSONAsString",
        K::JsonAsString,
        Read,
        "Each JSON object is one String",
    ),
    entry(
        "Values",
        K::Values,
        Both,
        "Rows in brackets, as after VALUES",
    ),
    entry("SQLInsert", K::SqlInsert, Write, "INSERT statements"),
    entry("TSKV", K::Tskv, Split, "name=value separated by tabs"),
    entry(
        "Vertical",
        K::Vertical,
        Write,
        "Each value on a line of its own",
    ),
    entry("Pretty", pretty(Grid::Full, true), Write, TABLE),
    entry("PrettyMonoBlock", pretty(Grid::Full, true), Write, TABLE),
    entry("PrettyNoEscapes", pretty(Grid::Full, false), Write, TABLE),
    entry(
        "PrettyNoEscapesMonoBlock",
        pretty(Grid::Full, false),
        Write,
        TABLE,
    ),
    entry("PrettyCompact", pretty(Grid::Compact, true), Write, COMPACT),
    entry(
        "PrettyCompactMonoBlock",
        pretty(Grid::Compact, true),
        Write,
        COMPACT,
    ),
    entry(
        "PrettyCompactNoEscapes",
        pretty(Grid::Compact, false),
        Write,
        COMPACT,
    ),
    entry(
        "PrettyCompactNoEscapesMonoBlock",
        pretty(Grid::Compact, false),
        Write,
        COMPACT,
    ),
    entry("PrettySpace", pretty(Grid::Space, true), Write, SPACE),
    entry(
        "PrettySpaceMonoBlock",
        pretty(Grid::Space, true),
        Write,
        SPACE,
    ),
    entry(
        "PrettySpaceNoEscapes",
        pretty(Grid::Space, false),
        Write,
        SPACE,
    ),
    entry(
        "PrettySpaceNoEscapesMonoBlock",
        pretty(Grid::Space, false),
        Write,
        SPACE,
    ),
    entry("Markdown", K::Markdown, Write, "A table in Markdown"),
    entry("MD", K::Markdown, Write, "A table in Markdown"),
    entry(
        "XML",
        K::Xml,
        Write,
        "One XML document with types, rows and statistics",
    ),
    entry(
        "LineAsString",
        K::LineAsString,
        Split,
        "Each line is one String",
    ),
    entry(
        "RawBLOB",
        K::RawBlob,
        Both,
        "The whole text is one String; written without separators",
    ),
    entry("Native", K::Native, Both, "Blocks of columns in binary"),
    entry("RowBinary", K::RowBinary(Header::None), Both, BINARY),
    entry("RowBinaryWithNames", K::RowBinary(Names), Both, BINARY),
    entry(
        "RowBinaryWithNamesAndTypes",
        K::RowBinary(NamesAndTypes),
        Both,
        BINARY,
    ),
    entry("Arrow", K::Arrow, Both, "Apache Arrow's file format"),
    entry(
        "ArrowStream",
        K::ArrowStream,
        Both,
        "Apache Arrow's stream format",
    ),
    entry("Parquet", K::Parquet, Both, "Apache Parquet"),
    entry("Null", K::Null, Write, "Nothing is written"),
    entry(
        "One",
        K::One,
        Read,
        "Nothing is read: one row with the number 0",
    ),
];
