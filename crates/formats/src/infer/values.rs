//! Finds types of the columns of `VALUES`.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::Cursor;

use super::found::Found;
use super::merge::{is_known, merge};
use super::sample::Sample;
use super::text::infer_literal;
use crate::{Columns, FormatSettings};

/// Rows of literals in brackets.
pub(super) fn infer_values(sample: &Sample, settings: &FormatSettings) -> Result<Columns> {
    let mut found = Found::new(None);
    let mut cursor = Cursor::new(&sample.bytes);
    cursor.skip_space();
    sample.rows(&mut cursor, |cursor| {
        let mut row = Vec::new();
        cursor.expect(b'(')?;
        loop {
            cursor.skip_space();
            let start = *cursor;
            let literal = infer_literal(cursor, settings);
            row.push(literal.ok_or_else(|| {
                let found = start.excerpt();
                Error::new(
                    ErrorCode::SYNTAX_ERROR,
                    format!("Only literals have types here: '{found}'"),
                )
            })?);
            cursor.skip_space();
            if !cursor.eat(b',') {
                break;
            }
        }
        cursor.expect(b')')?;
        cursor.skip_space();
        cursor.eat(b',');
        cursor.skip_space();
        if cursor.eat(b';') {
            cursor.advance(cursor.rest().len());
        }
        found.add_by(row, merge)
    })?;
    if let Some(unknown) = found.types.iter().position(|t| !is_known(t)) {
        return Err(Error::new(
            ErrorCode::INCORRECT_DATA,
            format!("column {} has no value that tells its type", unknown + 1),
        ));
    }
    found.finish()
}
