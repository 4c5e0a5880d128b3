//! Finds names and types of fields by an escaping rule: CustomSeparated, Regexp.

use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::Cursor;

use super::found::Found;
use super::json::infer_value;
use super::lines::infer_lines;
use super::sample::Sample;
use super::text::{Origin, infer_field, infer_literal};
use crate::input::custom::Delimiters;
use crate::input::regexp::Groups;
use crate::input::rule::RuleReader;
use crate::output::rule::Rule;
use crate::registry::Header;
use crate::{Columns, FormatSettings};

/// The columns of CustomSeparated.
pub(super) fn separated(
    sample: &Sample,
    header: Header,
    settings: &FormatSettings,
) -> Result<Columns> {
    let (rule, delimiter) = (
        &settings.format_custom_escaping_rule,
        &settings.format_custom_field_delimiter,
    );
    let reader = RuleReader::new(rule, delimiter, settings)?;
    let delimiters = Delimiters::new(settings);
    let mut cursor = Cursor::new(&sample.bytes);
    delimiters.begin(&mut cursor)?;
    let line = |cursor: &mut Cursor<'_>| {
        let fields = delimiters.take_row(&reader, cursor)?;
        // What ends all rows is no row.
        match delimiters.gap(cursor.rest(), false)? {
            Some(gap) => cursor.advance(gap),
            None => cursor.advance(cursor.rest().len()),
        }
        let texts = fields.iter().map(|f| reader.text(f));
        let types = fields.iter().map(|f| type_of(f, &reader, settings));
        Ok((texts.collect::<Result<Vec<_>>>()?, types.collect()))
    };
    let detect = settings.input_format_custom_detect_header;
    infer_lines(sample, cursor, header, (detect, false), &line)
}

/// The columns of Regexp.
pub(super) fn groups(sample: &Sample, settings: &FormatSettings) -> Result<Columns> {
    let groups = Groups::new(settings)?;
    let mut found = Found::new(None);
    let mut cursor = Cursor::new(&sample.bytes);
    sample.rows(&mut cursor, |cursor| {
        let line = cursor.take_while(|b| b != b'\n');
        cursor.eat(b'\n');
        match groups.of_line(line)? {
            Some(fields) => {
                let types = fields.iter().map(|f| type_of(f, &groups.reader, settings));
                found.add(types.collect())
            }
            None => Ok(()),
        }
    })?;
    found.finish()
}

fn type_of(field: &[u8], reader: &RuleReader, settings: &FormatSettings) -> DataType {
    let origin = match reader.rule() {
        Rule::Json => {
            let known = infer_value(&mut Cursor::new(field), settings, 0);
            return known.unwrap_or(DataType::String);
        }
        Rule::Quoted => {
            let known = infer_literal(&mut Cursor::new(field), settings);
            return known.unwrap_or(DataType::String);
        }
        Rule::Csv if reader.is_quoted(field) => {
            let text = reader.text(field).unwrap_or_default();
            return infer_field(&text, Origin::Quoted, settings);
        }
        Rule::Csv => Origin::Bare,
        _ => Origin::Tsv,
    };
    if field.is_empty() || reader.is_null(field) {
        return DataType::Nothing;
    }
    infer_field(field, origin, settings)
}
