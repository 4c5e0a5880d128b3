//! Writes definitions as a script with a checksum, and reads it back.
//!
//! The checksum is in the last line, a comment. A script that somebody has written has none.

use std::path::Path;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, Statement};
use xxhash_rust::xxh3::xxh3_128;

use crate::database::Database;

const CHECKSUM: &str = "-- checksum ";

/// The script as it is kept.
pub(super) fn with_checksum(mut script: String) -> Vec<u8> {
    let checksum = xxh3_128(script.as_bytes());
    script.push_str(&format!("{CHECKSUM}{checksum:032x}\n"));
    script.into_bytes()
}

/// Whether a script that is kept has a checksum.
///
/// # Errors
/// `CORRUPTED_DATA` if it has one that does not match.
pub(super) fn is_checked(kept: &[u8], file: &Path) -> Result<bool> {
    let start = kept.trim_ascii_end().rsplit(|b| *b == b'\n').next();
    let Some(checksum) = start.and_then(|line| line.strip_prefix(CHECKSUM.as_bytes())) else {
        return Ok(false);
    };
    let script = &kept[..kept.trim_ascii_end().len() - CHECKSUM.len() - checksum.len()];
    match format!("{:032x}", xxh3_128(script)).as_bytes() == checksum {
        true => Ok(true),
        false => Err(Error::new(
            ErrorCode::CORRUPTED_DATA,
            format!(
                "Put a copy back, or remove the last line if you have changed the others: the \
                 definitions are damaged, their checksum doesn't match: {}",
                file.display()
            ),
        )),
    }
}

/// The statement that makes a function.
pub(crate) fn create_function(name: &str, lambda: &ast::Lambda, or_replace: bool) -> String {
    let create = ast::CreateFunction {
        or_replace,
        if_not_exists: false,
        name: name.to_owned(),
        cluster: None,
        lambda: lambda.clone(),
        span: ast::Span::default(),
    };
    basalt_parser::format_one_line(&Statement::CreateFunction(Box::new(create)))
}

/// The statement that makes a database.
fn create_database(name: &str, comment: String) -> String {
    let create = ast::CreateDatabase {
        attach: false,
        if_not_exists: true,
        name: ast::ObjectName::bare(name),
        uuid: None,
        cluster: None,
        storage: ast::Storage::default(),
        table_overrides: Vec::new(),
        comment: (!comment.is_empty()).then(|| comment.into_bytes()),
        output: ast::OutputOptions::default(),
    };
    basalt_parser::format_one_line(&Statement::CreateDatabase(Box::new(create)))
}

/// The statements that make everything again.
pub(super) fn of(database: &Database) -> Result<String> {
    let mut tables = String::new();
    let mut views = String::new();
    let mut script = String::new();
    for (name, lambda) in database.sql_functions.read().iter() {
        script.push_str(&create_function(name, lambda, true));
        script.push_str(";\n");
    }
    for (name, comment, all) in database.catalog.all() {
        script.push_str(&create_database(&name, comment));
        script.push_str(";\n");
        for table in all {
            let is_view = matches!(table.engine, crate::catalog::Engine::View(_));
            let target = if is_view { &mut views } else { &mut tables };
            match table.on_disk() {
                Some(on_disk) => target.push_str(&on_disk.definition(&table.create_sql)?),
                None => target.push_str(&table.create_sql),
            }
            target.push_str(";\n");
        }
    }
    // Views name tables, so that they come behind them.
    Ok(script + &tables + &views)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_checked, with_checksum};

    #[test]
    fn every_changed_byte_is_found_or_leaves_no_checksum() {
        let file = Path::new("definitions.sql");
        let kept = with_checksum("CREATE TABLE t (a UInt8);\n".to_owned());
        assert!(is_checked(&kept, file).unwrap());
        for at in 0..kept.len() {
            let mut damaged = kept.clone();
            damaged[at] ^= 1;
            assert!(!is_checked(&damaged, file).unwrap_or(false), "byte {at}");
        }
        assert!(is_checked(&with_checksum(String::new()), file).unwrap());
        assert!(!is_checked(b"", file).unwrap());
        assert!(!is_checked(b"CREATE TABLE t (a UInt8)", file).unwrap());
    }
}
