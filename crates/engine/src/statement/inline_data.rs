//! Reads the rows that an INSERT brings along, expressions in `VALUES` included.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use basalt_analyzer::{Analyzer, Typed, cast};
use basalt_error::{Error, Result};
use basalt_functions::scalar::core::cast::{CastMode, cast_function};
use basalt_functions::{Column, Context};
use basalt_types::DataType;

use crate::catalog::Table;
use crate::database::Database;
use crate::environment::QueryEnvironment;
use crate::execution::Execution;
use crate::session::{RunningQuery, Session};
use crate::settings::Settings;

/// All rows of `data` in the format, for columns of these names and types; behind them stand flags
/// of where rows have no value of their own, for the `tracked` columns.
pub(super) fn read(
    session: &Session,
    query: &RunningQuery<'_>,
    format: &str,
    (header, tracked): (&[(String, DataType)], Vec<usize>),
    data: Box<dyn BufRead + Send>,
) -> Result<Vec<RecordBatch>> {
    let settings = query.settings.formats()?;
    let environment = session.environment(query);
    let extras = basalt_formats::Extras {
        evaluator: Some(evaluator(&environment)),
        tracked,
        converter: Some(converter(&environment.context)),
        only_counts: false,
    };
    let mut reader = basalt_formats::input_with(format, header, &settings, data, extras)?;
    let mut batches = Vec::new();
    let kept = query.execution.kept_rows();
    while let Some(batch) = reader.next_block()? {
        query.control.check()?;
        kept.add(&batch)?;
        batches.push(batch);
    }
    Ok(batches)
}

/// Converts the columns of files as CAST does.
pub(crate) fn converter(context: &Context) -> basalt_formats::Converter {
    let context = context.clone();
    Arc::new(move |from, to| {
        let cast = cast_function(from, to, &context, CastMode::Normal)?;
        let convert = move |array: &ArrayRef| {
            let column = Column::new(Arc::clone(array));
            cast.call(&[column], array.len())
        };
        Ok(Box::new(convert) as basalt_formats::Conversion)
    })
}

/// What computes the expressions in `VALUES` of a query.
pub(crate) fn evaluator(environment: &QueryEnvironment<'_>) -> Box<dyn basalt_formats::Evaluator> {
    Box::new(ValueEvaluator {
        database: Arc::clone(environment.database),
        settings: environment.settings.clone(),
        context: environment.context.clone(),
        parameters: environment.parameters.clone(),
        temporary: environment.temporary.clone(),
        execution: environment.execution.clone(),
    })
}

/// Computes an expression that stands in `VALUES` in the place of a literal.
struct ValueEvaluator {
    database: Arc<Database>,
    settings: Settings,
    context: Context,
    parameters: BTreeMap<String, String>,
    temporary: BTreeMap<String, Arc<Table>>,
    execution: Execution,
}

impl basalt_formats::Evaluator for ValueEvaluator {
    fn evaluate(&mut self, expression: &str, data_type: &DataType) -> Result<ArrayRef> {
        let expr = basalt_parser::parse_expr(expression)?;
        let environment = QueryEnvironment {
            database: &self.database,
            settings: &self.settings,
            context: self.context.clone(),
            parameters: &self.parameters,
            temporary: &self.temporary,
            execution: self.execution.clone(),
        };
        let (value, from) = Analyzer::new(&environment, b"").constant(&expr)?;
        let typed = Typed::constant(value, from)?;
        let converted = cast(typed, data_type, CastMode::Normal, &self.context)?;
        converted
            .constant
            .ok_or_else(|| Error::bug("a constant stays one"))
    }
}
