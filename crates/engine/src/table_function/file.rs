//! Reads files: `file('path or glob' [, format [, structure [, compression]]])`.

use std::path::PathBuf;
use std::sync::Arc;

use basalt_analyzer::{TableColumn, TableEntry};
use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::scan::{ParquetTable, SourceTable};

use super::arguments::Arguments;
use super::values::declared;

/// The rows of the files that the first argument names.
pub(super) fn call(args: &Arguments<'_>) -> Result<TableEntry> {
    if !(1..=4).contains(&args.len()) {
        return Err(args.wrong_number("1 to 4"));
    }
    let pattern = args.text(0)?;
    let files = matching(&pattern)?;
    let format = match args.optional_text(1)? {
        Some(name) => basalt_formats::lookup(&name)?,
        None => basalt_formats::from_file_extension(&pattern).ok_or_else(|| {
            Error::new(
                ErrorCode::CANNOT_DETECT_FORMAT,
                format!(
                    "Name the format as second argument: the ending of {pattern} is no format's"
                ),
            )
        })?,
    };
    let structure = args.optional_text(2)?.map(|s| declared(&s)).transpose()?;
    if format.name == "Parquet" {
        let table = ParquetTable::open(files, structure.map(typed))?;
        let columns = table
            .columns()
            .iter()
            .map(|(n, t)| TableColumn::new(n, t.clone()))
            .collect();
        return Ok(TableEntry::Table {
            provider: Arc::new(SourceTable(table)),
            columns,
        });
    }
    super::text_file::open(
        args,
        files,
        format,
        structure,
        args.optional_text(3)?.as_deref(),
    )
}

fn typed(columns: Vec<TableColumn>) -> Vec<(String, basalt_types::DataType)> {
    columns.into_iter().map(|c| (c.name, c.data_type)).collect()
}

/// The files of a path or glob (`*`, `?`, `[…]`, `{a,b}`, `{1..3}`), sorted.
fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for pattern in expand_braces(pattern) {
        if !pattern.contains(['*', '?', '[']) {
            files.push(PathBuf::from(pattern));
            continue;
        }
        let found = glob::glob(&pattern).map_err(|e| {
            Error::new(ErrorCode::BAD_ARGUMENTS, format!("Bad glob {pattern}: {e}"))
        })?;
        files.extend(
            found
                .filter_map(std::result::Result::ok)
                .filter(|p| p.is_file()),
        );
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::new(
            ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
            format!("No file matches {pattern}"),
        ));
    }
    for file in &files {
        if file.is_dir() {
            return Err(Error::new(
                ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
                format!(
                    "Name its files, as in '{}/*.parquet': {0} is a folder",
                    file.display()
                ),
            ));
        }
        if !file.exists() {
            return Err(Error::new(
                ErrorCode::FILE_DOESNT_EXIST,
                format!("File {} doesn't exist", file.display()),
            ));
        }
    }
    Ok(files)
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
