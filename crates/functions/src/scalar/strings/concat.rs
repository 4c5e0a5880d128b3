//! Joins values into strings; what is no string is written as text.

use std::sync::Arc;

use arrow::array::{Array, AsArray, BinaryViewArray};
use basalt_error::Result;
use basalt_types::DataType;

use super::reverse::delegate;
use super::shapes::write_rows;
use crate::{Arg, BoundFunction, Call, Column, Fails, Resolved, ScalarFunction, memory, registry};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "concat",
        fails: Fails::Never,
        aliases: &["concatAssumeInjective"],
        case_insensitive: true,
        syntax: "concat(x, …)",
        description: "The values written as text one after the other; arrays, tuples, maps joined.",
        resolve: resolve_concat,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "concatWithSeparator",
        aliases: &["concat_ws", "concatWithSeparatorAssumeInjective"],
        case_insensitive: true,
        syntax: "concatWithSeparator(separator, x, …)",
        description: "The values written as text with a separator between them.",
        resolve: resolve_with_separator,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayStringConcat",
        aliases: &["array_to_string"],
        case_insensitive: true,
        syntax: "arrayStringConcat(array[, separator])",
        description: "The elements of an array as text with a separator between them; no NULLs.",
        resolve: resolve_array,
        ..ScalarFunction::BASE
    },
];

/// Turns columns of any types into columns of strings.
#[derive(Clone, Debug)]
pub struct Texts(Vec<Option<BoundFunction>>);

impl Texts {
    /// Finds how each argument is written as text.
    ///
    /// # Errors
    /// `ILLEGAL_TYPE_OF_ARGUMENT` for types without a text.
    pub fn new(call: &Call<'_>, args: &[Arg]) -> Result<Self> {
        let writers = args.iter().map(|arg| {
            if arg.data_type.is_string() {
                return Ok(None);
            }
            let to_string = registry::get_scalar("toString")?;
            let arg = Arg::new(arg.data_type.clone());
            BoundFunction::bind(to_string, &[arg], call.context).map(Some)
        });
        Ok(Self(writers.collect::<Result<_>>()?))
    }

    /// The columns as strings, constants still constant.
    ///
    /// # Errors
    /// What writing as text reports.
    pub fn columns(&self, columns: &[Column]) -> Result<Vec<Column>> {
        let texts = self.0.iter().zip(columns).map(|(writer, column)| {
            let Some(writer) = writer else {
                return Ok(column.clone());
            };
            Ok(Column {
                array: writer.call(
                    &[Column::new(Arc::clone(&column.array))],
                    column.array.len(),
                )?,
                is_const: column.is_const,
            })
        });
        texts.collect()
    }
}

fn resolve_concat(call: &Call<'_>) -> Result<Resolved> {
    let all = |fits: fn(&DataType) -> bool| {
        !call.args.is_empty() && call.args.iter().all(|a| fits(&a.data_type))
    };
    if call.args.len() == 1 && matches!(call.args[0].data_type, DataType::FixedString(_)) {
        // It is written as text, without zeros at its end; beside others it keeps them.
        return delegate(call, "toString");
    }
    if call.args.len() == 1 {
        return joined(call, call.args, 0, Vec::new());
    }
    if all(|t| matches!(t, DataType::Array(_))) {
        return delegate(call, "arrayConcat");
    }
    if all(|t| matches!(t, DataType::Tuple(_))) {
        return delegate(call, "tupleConcat");
    }
    if all(|t| matches!(t, DataType::Map(..))) {
        return delegate(call, "mapConcat");
    }
    joined(call, call.args, 0, Vec::new())
}

fn resolve_with_separator(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    let separator = call.constant_bytes(0)?;
    joined(call, &call.args[1..], 1, separator)
}

/// Joins the arguments from number `skipped` on.
fn joined(call: &Call<'_>, args: &[Arg], skipped: usize, separator: Vec<u8>) -> Result<Resolved> {
    let texts = Texts::new(call, args)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let columns = texts.columns(&columns[skipped..])?;
        let parts = columns.iter().map(Column::strings);
        let parts = parts.collect::<Result<Vec<_>>>()?;
        write_rows(&columns, num_rows, |row, out| {
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    out.extend_from_slice(&separator);
                }
                out.extend_from_slice(part.value(row));
            }
            Ok(())
        })
    })
}

fn resolve_array(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    let DataType::Array(element) = call.data_type(0) else {
        return Err(call.illegal_type(0));
    };
    let separator = match call.args.get(1) {
        Some(_) => call.constant_bytes(1)?,
        None => Vec::new(),
    };
    if **element == DataType::Nothing {
        let empty = |num_rows| BinaryViewArray::from_iter_values(std::iter::repeat_n("", num_rows));
        return Resolved::new(DataType::String, move |_, num_rows| {
            Ok(Arc::new(empty(num_rows)))
        });
    }
    let texts = Texts::new(call, &[Arg::new(element.as_ref().clone())])?;
    // As where they are cast to String, and unlike in `concat`, the zeros behind them go.
    let is_padded = matches!(element.base(), DataType::FixedString(_));
    Resolved::new(DataType::String, move |columns, num_rows| {
        let lists = columns[0].array.as_list::<i32>();
        let elements = texts.columns(&[Column::new(Arc::clone(lists.values()))])?;
        let elements = &elements[0];
        let strings = elements.strings()?;
        write_rows(columns, num_rows, |row, out| {
            let row = columns[0].row(row);
            let (start, end) = (lists.value_offsets()[row], lists.value_offsets()[row + 1]);
            let values = (start as usize..end as usize).filter(|i| !elements.array.is_null(*i));
            let lens = values.map(|i| strings.value(i).len() + separator.len());
            memory::check(lens.sum())?;
            let mut is_first = true;
            for i in start as usize..end as usize {
                if elements.array.is_null(i) {
                    continue;
                }
                if !std::mem::take(&mut is_first) {
                    out.extend_from_slice(&separator);
                }
                let value = strings.value(i);
                let padding = value.iter().rev().take_while(|b| is_padded && **b == 0);
                out.extend_from_slice(&value[..value.len() - padding.count()]);
            }
            Ok(())
        })
    })
}
