//! Reads files: `file('path or glob' [, format [, structure [, compression]]])`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basalt_analyzer::{TableColumn, TableEntry};
use basalt_error::{Error, ErrorCode, Result, nearest};
use basalt_exec::scan::{FileFact, ParquetTable, SourceTable};

use super::arguments::Arguments;
use super::compression::Method;
use super::structure::Structure;

/// The rows of the files that the first argument names.
pub(super) fn call(args: &Arguments<'_>) -> Result<TableEntry> {
    if !(1..=4).contains(&args.len()) {
        return Err(args.wrong_number("1 to 4"));
    }
    let pattern = args.text(0)?;
    let format = args.optional_text(1)?;
    let format = format.map(|f| basalt_formats::lookup(&f)).transpose()?;
    if args.optional_text(2)?.is_some_and(|s| s.trim().is_empty()) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "Give the structure of the file, or auto: it is empty",
        ));
    }
    let structure = args
        .optional_text(2)?
        .map(|s| Structure::parse(&s))
        .transpose()?;
    let files = matching(&pattern).map_err(|e| match (&structure, e.code()) {
        (None, ErrorCode::FILE_DOESNT_EXIST) => Error::new(ErrorCode::CANNOT_STAT, e.message()),
        _ => e,
    })?;
    if files.is_empty() && structure.is_none() {
        return Err(Error::new(
            ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
            match Path::new(&pattern).is_dir() {
                true => format!("Put files into folder {pattern}, or name a file: it has none"),
                false => format!("No file matches {pattern}"),
            },
        ));
    }
    let format = match format {
        Some(format) => format,
        None => format_of(&pattern, &files)?,
    };
    let method = args.optional_text(3)?;
    let is_plain = |file: &PathBuf| {
        let method = Method::of(&file.to_string_lossy(), method.as_deref());
        method.is_ok_and(|m| m == Method::None)
    };
    // Compressed as a whole, its parts cannot be read where they are wanted.
    if format.name == "Parquet" && files.iter().all(is_plain) {
        let context = &args.environment.context;
        let structure = structure.map(without_defaults).transpose()?;
        let is_inferred = structure.is_none();
        let table = ParquetTable::open(files, structure, context);
        let table = table.map_err(|e| match is_inferred {
            true => no_structure(&e, format.name),
            false => e,
        })?;
        let columns = table.columns().iter();
        let columns = columns.map(|(n, t)| TableColumn::new(n, t.clone()));
        return Ok(TableEntry::Table {
            columns: columns.chain(hidden(table.facts())).collect(),
            provider: Arc::new(SourceTable(table)),
        });
    }
    super::text_file::open(args, files, format, structure, method.as_deref())
}

/// The error for a file that does not tell its columns.
pub(super) fn no_structure(e: &Error, format: &str) -> Error {
    match e.code() {
        ErrorCode::NOT_IMPLEMENTED
        | ErrorCode::BAD_ARGUMENTS
        | ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE => e.clone(),
        _ => Error::new(
            ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
            format!(
                "{}: the table structure cannot be extracted from a {format} format file",
                e.message()
            ),
        ),
    }
}

/// The format by the endings of the files, or by how the first of them begins.
fn format_of(pattern: &str, files: &[PathBuf]) -> Result<&'static basalt_formats::FormatEntry> {
    let first = files.first().map(|f| f.to_string_lossy());
    let format = basalt_formats::from_file_extension(pattern)
        .or_else(|| basalt_formats::from_file_extension(&first?))
        .or_else(|| basalt_formats::from_first_bytes(&first_bytes(files.first()?)?));
    format.ok_or_else(|| {
        Error::new(
            ErrorCode::CANNOT_DETECT_FORMAT,
            format!("Name the format as second argument: the ending of {pattern} is no format's"),
        )
    })
}

fn first_bytes(file: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(file).ok()?;
    file.take(basalt_formats::FIRST_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

/// The columns of facts of files, which `*` does not show.
pub(super) fn hidden(facts: &[FileFact]) -> impl Iterator<Item = TableColumn> {
    facts.iter().map(|fact| TableColumn {
        hidden: true,
        ..TableColumn::new(fact.name(), fact.data_type())
    })
}

/// The columns of Parquet files, whose scans know of no defaults.
fn without_defaults(structure: Structure) -> Result<Vec<(String, basalt_types::DataType)>> {
    let computed = structure.columns.iter().find(|c| c.alias.is_some());
    match computed {
        Some(column) => Err(Error::not_implemented(format!(
            "An expression for column `{}` in the structure of Parquet files",
            column.name
        ))),
        None => Ok(structure.header),
    }
}

/// The files of a path or glob (`*`, `?`, `**`, `{a,b}`, `{1..3}`) or in a directory, sorted.
fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let has_choices = pattern.contains('{');
    for pattern in expand_braces(pattern) {
        if pattern.contains(['*', '?']) {
            let found = glob::glob(&escaped(&pattern)).map_err(|e| {
                Error::new(ErrorCode::BAD_ARGUMENTS, format!("Bad glob {pattern}: {e}"))
            })?;
            let found = found.filter_map(std::result::Result::ok);
            files.extend(found.filter(|p| p.is_file()));
            continue;
        }
        let path = PathBuf::from(pattern);
        if path.is_dir() {
            let entries = path
                .read_dir()
                .map_err(|e| Error::from(e).within(path.display()))?;
            let entries = entries.filter_map(|e| Some(e.ok()?.path()));
            files.extend(entries.filter(|p| p.is_file()));
        } else if path.exists() {
            // Also a device or a pipe.
            files.push(path);
        } else if !has_choices {
            return Err(missing(&path));
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// The error for a file that is not there, with one of a near name in the same folder.
fn missing(path: &Path) -> Error {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    let entries = folder.unwrap_or(Path::new(".")).read_dir();
    let names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let hint = match nearest(&wanted, names.iter().map(String::as_str)).first() {
        Some(near) => format!("Maybe you meant {}? ", path.with_file_name(near).display()),
        None => String::new(),
    };
    Error::new(
        ErrorCode::FILE_DOESNT_EXIST,
        format!("{hint}File {} doesn't exist", path.display()),
    )
}

/// The pattern for a crate that gives `[` a meaning, and `**` one only as a whole component.
fn escaped(pattern: &str) -> String {
    let component = |part: &str| {
        if part == "**" {
            return part.to_owned();
        }
        let mut part = part.replace('[', "[[]");
        while part.contains("**") {
            part = part.replace("**", "*");
        }
        part
    };
    pattern
        .split('/')
        .map(component)
        .collect::<Vec<_>>()
        .join("/")
}

/// `{a,b}` and `{1..3}` written out, the first one first.
fn expand_braces(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return vec![pattern.to_owned()];
    };
    let Some((inner, after)) = rest.split_once('}') else {
        return vec![pattern.to_owned()];
    };
    let range = inner.split_once("..").and_then(|(from, to)| {
        let width = from.len();
        let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
        (to.saturating_sub(from) < 100_000).then(|| {
            (from..=to)
                .map(|n| format!("{n:0width$}"))
                .collect::<Vec<_>>()
        })
    });
    let choices = range.unwrap_or_else(|| inner.split(',').map(str::to_owned).collect());
    let expanded = choices.iter().map(|c| format!("{before}{c}{after}"));
    expanded.flat_map(|p| expand_braces(&p)).collect()
}

#[cfg(test)]
mod tests {
    use super::expand_braces;

    #[test]
    fn braces_are_written_out() {
        assert_eq!(expand_braces("a{1..3}.csv"), ["a1.csv", "a2.csv", "a3.csv"]);
        assert_eq!(expand_braces("{x,y}{01..02}"), ["x01", "x02", "y01", "y02"]);
        assert_eq!(expand_braces("plain{"), ["plain{"]);
    }
}
