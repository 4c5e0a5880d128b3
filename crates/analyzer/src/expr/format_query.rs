//! Resolves the functions that lay out queries, which need the parser: `formatQuery` and its kin.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::{BoundFunction, Column};
use basalt_types::DataType;
use datafusion::arrow::array::{ArrayRef, BinaryViewBuilder};

use super::Resolver;
use super::native::fold_if;
use crate::{Typed, udf};

/// Names of the functions: layout, and what text that is no query gives.
const FUNCTIONS: [(&str, bool, bool); 4] = [
    ("formatQuery", false, false),
    ("formatQuerySingleLine", true, false),
    ("formatQueryOrNull", false, true),
    ("formatQuerySingleLineOrNull", true, true),
];

/// Whether the name is one of these functions.
pub(crate) fn is_format_query(name: &str) -> bool {
    FUNCTIONS.iter().any(|(n, _, _)| *n == name)
}

impl Resolver<'_> {
    /// `formatQuery(text)` and its kin.
    pub(crate) fn format_query(&self, name: &str, args: Vec<Typed>) -> Result<Typed> {
        let entry = FUNCTIONS.iter().find(|(n, _, _)| *n == name);
        let (name, one_line, or_null) = *entry.ok_or_else(|| Error::bug("no such function"))?;
        let [arg] = <[Typed; 1]>::try_from(args).map_err(|args| {
            Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                format!("Function {name} takes 1 argument, got {}", args.len()),
            )
        })?;
        if !arg.data_type.is_string() {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                format!(
                    "Illegal type {} of argument of function {name}",
                    arg.data_type
                ),
            ));
        }
        let nullable = or_null || arg.data_type.is_nullable();
        let data_type = if nullable {
            DataType::String.to_nullable()
        } else {
            DataType::String
        };
        let eval = move |columns: &[Column], num_rows: usize| {
            let strings = columns[0].strings()?;
            let validity = columns[0].validity(num_rows);
            let mut out = BinaryViewBuilder::with_capacity(num_rows);
            for row in 0..num_rows {
                if validity.as_ref().is_some_and(|v| v.is_null(row)) {
                    out.append_null();
                    continue;
                }
                match basalt_parser::parse_statement(strings.value(row)) {
                    Ok(parsed) if one_line => {
                        out.append_value(basalt_parser::format_one_line(&parsed.statement));
                    }
                    Ok(parsed) => {
                        out.append_value(basalt_parser::format_statement(&parsed.statement));
                    }
                    Err(_) if or_null => out.append_null(),
                    Err(e) => return Err(e),
                }
            }
            Ok(Arc::new(out.finish()) as ArrayRef)
        };
        let bound = BoundFunction::from_parts(name, data_type.clone(), Arc::new(eval));
        let constant = arg.constant.is_some();
        let typed = Typed::new(
            udf::call(format!("{name}->{data_type}"), bound, vec![arg.expr]),
            data_type,
        );
        fold_if(constant, typed)
    }
}
