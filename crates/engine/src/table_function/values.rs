//! Gives rows that stand in the query: `values`, `null`, `format`.

use std::io::Cursor;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::Schema;
use basalt_analyzer::{ConstantArg, TableColumn, TableEntry, Typed, cast};
use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::scalar::core::cast::CastMode;
use basalt_types::{DataType, least_supertype};

use super::arguments::Arguments;
use super::structure::Structure;
use crate::statement::inline_data::{converter, evaluator};

/// `values('a UInt8, b String', (1, 'x'), …)`, `values(1, 2)`, `values((1, 'x'), …)`.
pub(super) fn values(args: &Arguments<'_>) -> Result<TableEntry> {
    let all = args.all();
    let structure = match args.text(0) {
        Ok(text) if all.len() > 1 => Structure::parse(&text)
            .ok()
            .map(|s| s.header)
            .filter(|s| !s.is_empty()),
        _ => None,
    };
    let rows_from = usize::from(structure.is_some());
    rows(args, structure, &all[rows_from..])
}

/// The rows of `values` behind the structure; without one columns are `c1`, `c2` and so on.
pub(super) fn rows(
    args: &Arguments<'_>,
    structure: Option<Vec<(String, DataType)>>,
    rows: &[ConstantArg],
) -> Result<TableEntry> {
    let first = rows
        .first()
        .ok_or_else(|| args.wrong_number("at least 1"))?;
    let num_columns = match &structure {
        Some(columns) => columns.len(),
        None => cells(first, None).len(),
    };
    let mut columns: Vec<Vec<(ArrayRef, DataType)>> = vec![Vec::new(); num_columns];
    for row in rows {
        let cells = cells(row, Some(num_columns));
        if cells.len() != num_columns {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Rows of values have {num_columns} columns, one has {}",
                    cells.len()
                ),
            ));
        }
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }
    let mut described = Vec::with_capacity(num_columns);
    let mut arrays = Vec::with_capacity(num_columns);
    for (i, column) in columns.into_iter().enumerate() {
        let (name, data_type) = match &structure {
            Some(columns) => columns[i].clone(),
            None => {
                let types: Vec<DataType> = column.iter().map(|(_, t)| t.clone()).collect();
                (format!("c{}", i + 1), least_supertype(&types)?)
            }
        };
        let cells = column
            .into_iter()
            .map(|(value, from)| given(args, value, &from, &data_type))
            .collect::<Result<Vec<_>>>()?;
        let cells: Vec<&dyn Array> = cells.iter().map(AsRef::as_ref).collect();
        arrays.push(concat(&cells).map_err(|e| Error::bug(e.to_string()))?);
        described.push(TableColumn::new(name, data_type));
    }
    let fields: Vec<_> = described
        .iter()
        .map(|c| c.data_type.field(&c.name))
        .collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|e| Error::bug(e.to_string()))?;
    Ok(super::batches(described, vec![batch]))
}

/// A value as one of the declared type; what does not fit is an error.
fn given(
    args: &Arguments<'_>,
    value: ArrayRef,
    from: &DataType,
    to: &DataType,
) -> Result<ArrayRef> {
    let context = &args.environment.context;
    let numbers = from.base().is_number() && to.base().is_number();
    let (mode, too_large) = if numbers {
        (CastMode::Accurate, ErrorCode::ARGUMENT_OUT_OF_BOUND)
    } else {
        (CastMode::Normal, ErrorCode::TYPE_MISMATCH)
    };
    let converted = Typed::constant(value, from.clone())
        .and_then(|typed| cast(typed, to, mode, context))
        .map_err(|e| match e.code() {
            ErrorCode::CANNOT_CONVERT_TYPE if numbers && !from.is_nullable() => {
                Error::new(too_large, e.message())
            }
            ErrorCode::CANNOT_CONVERT_TYPE
            | ErrorCode::CANNOT_PARSE_TEXT
            | ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT => {
                Error::new(ErrorCode::TYPE_MISMATCH, e.message())
            }
            _ => e,
        })?;
    converted
        .constant
        .ok_or_else(|| Error::bug("a constant stays one"))
}

/// The values of a row: a tuple's elements, or the one value (also a tuple for one column of it).
fn cells(row: &ConstantArg, num_columns: Option<usize>) -> Vec<(ArrayRef, DataType)> {
    match &row.data_type {
        DataType::Tuple(tuple) if num_columns.is_none_or(|n| n == tuple.types.len()) => {
            let columns = row.value.as_struct().columns().iter();
            columns
                .zip(&tuple.types)
                .map(|(c, t)| (Arc::clone(c), t.clone()))
                .collect()
        }
        data_type => vec![(Arc::clone(&row.value), data_type.clone())],
    }
}

/// `null('a UInt8')`: no rows.
pub(super) fn null(args: &Arguments<'_>) -> Result<TableEntry> {
    if args.len() > 1 {
        return Err(args.wrong_number("0 or 1"));
    }
    let text = args.optional_text(0)?;
    let text = text.unwrap_or_else(|| "dummy UInt8".to_owned());
    Ok(Structure::parse(&text)?.table(Vec::new()))
}

/// `format(CSV, [structure,] 'text')`.
pub(super) fn format(args: &Arguments<'_>) -> Result<TableEntry> {
    if !(2..=3).contains(&args.len()) {
        return Err(args.wrong_number("2 or 3"));
    }
    let format = args.text(0)?;
    let text = args.bytes(args.len() - 1)?;
    let settings = args.environment.settings.formats()?;
    let structure = if args.len() == 3 {
        Structure::parse(&args.text(1)?)?
    } else {
        let sample = Box::new(Cursor::new(text.clone()));
        Structure::plain(basalt_formats::infer(&format, sample, &settings)?)
    };
    let reader = Box::new(Cursor::new(text));
    let extras = basalt_formats::Extras {
        evaluator: Some(evaluator(args.environment)),
        tracked: structure.tracked.clone(),
        converter: Some(converter(&args.environment.context)),
        only_counts: false,
    };
    let mut reader =
        basalt_formats::input_with(&format, &structure.header, &settings, reader, extras)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_block()? {
        batches.push(batch);
    }
    Ok(structure.table(batches))
}
