//! Lists the formats: one declarative table of name, kind, directions and description.

mod table;

use basalt_error::{Error, ErrorCode, Result, nearest};

pub use table::FORMATS;

/// What writes or reads a format; variants of one family share a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the formats'")]
pub enum Kind {
    TabSeparated(Header),
    TabSeparatedRaw(Header),
    Csv(Header),
    Json { compact: bool, strings: bool },
    JsonColumns { compact: bool, metadata: bool },
    JsonEachRow { strings: bool, pretty: bool },
    JsonEachRowWithProgress { compact: bool, strings: bool },
    JsonCompactEachRow { strings: bool, header: Header },
    JsonObjectEachRow,
    JsonAsString,
    CustomSeparated(Header),
    Regexp,
    Template,
    Values,
    SqlInsert,
    Tskv,
    Vertical,
    Pretty { grid: Grid, escapes: bool },
    Markdown,
    Xml,
    LineAsString,
    RawBlob,
    Native,
    RowBinary(Header),
    Arrow,
    ArrowStream,
    Parquet,
    Null,
    One,
}

/// What stands before the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Header {
    /// Nothing.
    None,
    /// A row of names.
    Names,
    /// A row of names and one of types.
    NamesAndTypes,
}

/// The lines of a Pretty format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Around every row.
    Full,
    /// Around the table.
    Compact,
    /// None.
    Space,
}

/// One format.
#[derive(Clone, Copy, Debug)]
pub struct FormatEntry {
    /// Name as in `FORMAT name`; letters may have any case.
    pub name: &'static str,
    /// What writes and reads it.
    pub kind: Kind,
    /// Whether it can be read.
    pub is_input: bool,
    /// Whether it can be written.
    pub is_output: bool,
    /// Whether rows are lines, so that a text can be split at row ends and read in parallel.
    pub splits: bool,
    /// What it is, for `system.formats` and the documentation.
    pub description: &'static str,
}

impl FormatEntry {
    /// Whether its readers find columns by name and leave the others alone.
    pub fn finds_columns(&self) -> bool {
        matches!(
            self.kind,
            Kind::Arrow | Kind::ArrowStream | Kind::Parquet | Kind::Native
        )
    }
}

/// Finds a format by its name in any case.
///
/// # Errors
/// `UNKNOWN_FORMAT`, with the nearest names.
pub fn lookup(name: &str) -> Result<&'static FormatEntry> {
    if let Some(entry) = FORMATS.iter().find(|f| f.name.eq_ignore_ascii_case(name)) {
        return Ok(entry);
    }
    if let Some(known) = ABSENT.iter().find(|n| n.eq_ignore_ascii_case(name)) {
        return Err(Error::not_implemented(format!("Format {known}")));
    }
    let near = nearest(name, FORMATS.iter().map(|f| f.name));
    let names: Vec<String> = near.iter().map(|name| format!("'{name}'")).collect();
    let hint = if names.is_empty() {
        "See system.formats for the names of formats".to_string()
    } else {
        format!("Maybe you meant: [{}]", names.join(", "))
    };
    Err(Error::new(
        ErrorCode::UNKNOWN_FORMAT,
        format!("{hint}. Unknown format {name}"),
    ))
}

/// Formats of ClickHouse that are not here.
const ABSENT: &[&str] = &[
    "Avro",
    "AvroConfluent",
    "BSONEachRow",
    "Buffers",
    "CapnProto",
    "CustomSeparatedIgnoreSpaces",
    "CustomSeparatedIgnoreSpacesWithNames",
    "CustomSeparatedIgnoreSpacesWithNamesAndTypes",
    "DWARF",
    "Form",
    "GeoJSON",
    "Hash",
    "HiveText",
    "JSONAsObject",
    "LineAsStringWithNames",
    "LineAsStringWithNamesAndTypes",
    "MsgPack",
    "MySQLDump",
    "MySQLWire",
    "Npy",
    "ODBCDriver2",
    "ORC",
    "PostgreSQLWire",
    "Prometheus",
    "Protobuf",
    "ProtobufConfluent",
    "ProtobufList",
    "ProtobufSingle",
    "RowBinaryWithDefaults",
    "TemplateIgnoreSpaces",
];

/// Endings of files that are no format's name.
const EXTENSIONS: &[(&str, &str)] = &[
    ("jsonl", "JSONEachRow"),
    ("pq", "Parquet"),
    ("feather", "Arrow"),
    ("arrows", "ArrowStream"),
    ("bin", "RowBinary"),
];

/// Endings that say how a file is compressed.
const COMPRESSIONS: [&str; 12] = [
    "gz", "gzip", "deflate", "zst", "zstd", "xz", "lzma", "bz2", "lz4", "br", "brotli", "snappy",
];

/// The format of a file by its name, whatever compression's ending stands behind.
pub fn from_file_extension(path: &str) -> Option<&'static FormatEntry> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let mut endings = name.rsplit('.');
    let mut ending = endings.next()?.to_ascii_lowercase();
    if COMPRESSIONS.contains(&ending.as_str()) {
        ending = endings.next()?.to_ascii_lowercase();
    }
    endings.next()?;
    let known = EXTENSIONS.iter().find(|(e, _)| *e == ending);
    lookup(known.map_or(ending.as_str(), |(_, format)| format)).ok()
}

#[cfg(test)]
mod tests {
    use super::{FORMATS, Kind, from_file_extension, lookup};

    #[test]
    fn names_are_unique_and_found_in_any_case() {
        for (i, format) in FORMATS.iter().enumerate() {
            assert!(!format.description.is_empty());
            let same = FORMATS[i + 1..]
                .iter()
                .find(|f| f.name.eq_ignore_ascii_case(format.name));
            assert!(same.is_none(), "{}", format.name);
        }
        assert!(lookup("jsoneachrow").is_ok_and(|f| f.name == "JSONEachRow"));
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let e = lookup("JSONEachRaw").expect_err("unknown");
        assert_eq!(e.code().number, 73);
        assert!(
            e.message().starts_with("Maybe you meant: ['JSONEachRow'"),
            "{e}"
        );
        let e = lookup("CVS").expect_err("unknown");
        assert!(e.message().starts_with("Maybe you meant: ['CSV'"), "{e}");
        let e = lookup("Foobarbazqux").expect_err("unknown");
        assert!(e.message().starts_with("See system.formats"), "{e}");
    }

    #[test]
    fn files_have_formats() {
        let kind = |path| from_file_extension(path).map(|f| f.kind);
        assert_eq!(kind("/a.b/x.csv.gz"), Some(Kind::Csv(super::Header::None)));
        assert_eq!(kind("x.PARQUET"), Some(Kind::Parquet));
        assert_eq!(kind("csv"), None);
        assert_eq!(kind("x.unknown"), None);
    }
}
