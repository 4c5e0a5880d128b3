//! Reads RowBinary: the values of each row one after another.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::states::{StateForms, states_as_strings};
use basalt_types::text::Cursor;

use super::Target;
use super::binary::{check_len, read_string, read_value, read_varint};
use super::fields::FieldMap;
use super::rows::RowParser;
use crate::registry::Header;

/// Reads rows.
pub(super) struct BinaryRows {
    map: FieldMap,
    header: Header,
    /// Types of the fields, those of the columns unless the header says otherwise.
    types: Vec<DataType>,
    forms: StateForms,
}

impl BinaryRows {
    pub(super) fn new(target: &Target, header: Header) -> Self {
        Self {
            map: FieldMap::by_position(target),
            header,
            types: target.columns.iter().map(|(_, t)| t.clone()).collect(),
            forms: target.settings.state_forms,
        }
    }
}

/// Reads the names and, if they are there, the types of a header.
pub(crate) fn read_header(cursor: &mut Cursor<'_>, with_types: bool) -> Result<[Vec<Vec<u8>>; 2]> {
    let len = check_len(read_varint(cursor)?)?;
    if len == 0 {
        // Rows of no columns take no bytes: they would never end.
        return Err(Error::new(
            ErrorCode::INCORRECT_DATA,
            "The header names no column: the data is damaged or of another format",
        ));
    }
    let strings = |cursor: &mut Cursor<'_>| {
        let mut strings = Vec::new();
        for _ in 0..len {
            strings.push(read_string(cursor)?.to_vec());
        }
        Ok::<_, Error>(strings)
    };
    let names = strings(cursor)?;
    let types = if with_types {
        strings(cursor)?
    } else {
        Vec::new()
    };
    Ok([names, types])
}

impl RowParser for BinaryRows {
    fn header(&mut self, text: &[u8], target: &Target) -> Result<usize> {
        if self.header == Header::None {
            return Ok(0);
        }
        let mut cursor = Cursor::new(text);
        let [names, types] = read_header(&mut cursor, self.header == Header::NamesAndTypes)?;
        self.map = FieldMap::by_names(&names, target)?;
        if self.header == Header::NamesAndTypes {
            let parse = |t: &Vec<u8>| basalt_types::parse_data_type(&String::from_utf8_lossy(t));
            self.types = types.iter().map(parse).collect::<Result<_>>()?;
            self.map.check_types(&types, target)?;
        } else {
            // Without types only fields of known columns can be read.
            let fields = (0..self.map.len()).map(|i| {
                let column = self.map.column(i).and_then(|i| target.columns.get(i));
                column.map(|(_, t)| t.clone()).ok_or_else(|| {
                    Error::not_implemented(
                        "RowBinaryWithNames with columns that the table does not have",
                    )
                })
            });
            self.types = fields.collect::<Result<_>>()?;
        }
        Ok(text.len() - cursor.rest().len())
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        for (i, data_type) in self.types.iter().enumerate() {
            match self.map.column(i) {
                Some(column) => {
                    read_value(data_type, &mut columns[column], &mut cursor, self.forms)?
                }
                None => {
                    let mut skipped = ColumnBuilder::new(&states_as_strings(data_type), 1)?;
                    read_value(data_type, &mut skipped, &mut cursor, self.forms)?;
                }
            }
        }
        self.map.fill_missing(columns);
        Ok(text.len() - cursor.rest().len())
    }

    /// Where a row ends is only known by reading it; an error may always mean "more bytes".
    fn row_len(&self, text: &[u8]) -> Option<usize> {
        let mut columns: Vec<ColumnBuilder> = self
            .types
            .iter()
            .map(|t| ColumnBuilder::new(&states_as_strings(t), 1))
            .collect::<Result<_>>()
            .ok()?;
        let mut cursor = Cursor::new(text);
        for (data_type, column) in self.types.iter().zip(&mut columns) {
            read_value(data_type, column, &mut cursor, self.forms).ok()?;
        }
        Some(text.len() - cursor.rest().len())
    }
}
