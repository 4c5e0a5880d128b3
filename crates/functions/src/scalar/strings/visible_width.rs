//! `visibleWidth`: columns that a value takes on a terminal.

use arrow::array::{Array, AsArray, UInt64Array};
use basalt_types::DataType;
use basalt_types::text::terminal;

use crate::scalar::core::cast::array_cast;
use crate::{Column, Nulls, Resolved, ScalarFunction};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "visibleWidth",
    nulls: Nulls::Own,
    syntax: "visibleWidth(x)",
    description: "About how many columns a value's text takes on a terminal.",
    resolve: |call| {
        call.expect_args(1..=1)?;
        let from = call.data_type(0);
        let cast = if *from.base() == DataType::Nothing {
            None
        } else {
            let text = if from.is_nullable() {
                DataType::String.to_nullable()
            } else {
                DataType::String
            };
            Some(array_cast(from, &text, call.context)?)
        };
        Resolved::new(DataType::UInt64, move |columns, num_rows| {
            let widths: Vec<u64> = match &cast {
                None => vec![NULL_WIDTH; columns[0].array.len()],
                Some(cast) => {
                    let texts = cast(&columns[0].array)?;
                    let texts = texts.as_binary_view();
                    let width = |row| {
                        if texts.is_null(row) {
                            NULL_WIDTH
                        } else {
                            terminal::width(texts.value(row), 0) as u64
                        }
                    };
                    (0..texts.len()).map(width).collect()
                }
            };
            let column = Column {
                array: std::sync::Arc::new(UInt64Array::from(widths)),
                is_const: columns[0].is_const,
            };
            column.expand(num_rows)
        })
    },
    ..ScalarFunction::BASE
}];

/// Width of the text `NULL`.
const NULL_WIDTH: u64 = 4;
