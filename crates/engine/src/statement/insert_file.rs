//! Runs `INSERT INTO FUNCTION file(path [, format [, structure]]) SELECT …`: writes a file.

use basalt_analyzer::{Analyzer, Planned, TargetColumn};
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, InsertSource, IntoOutfile, OutputOptions, TableFunction};

use super::query;
use super::result::{Header, ResultWriter};
use crate::session::{Io, RunningQuery, Session, Summary};

/// Formats whose files end with what they hold, so that nothing can follow.
const CLOSED_FORMATS: &[&str] = &["Parquet", "Arrow", "JSON", "JSONCompact", "XML"];

/// Writes the rows of an INSERT to the file that the function names.
pub(super) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    (insert, function): (&ast::Insert, &TableFunction),
    io: Io<'_>,
) -> Result<Summary> {
    if function.name != "file" {
        return Err(Error::not_implemented(format!(
            "INSERT INTO FUNCTION {}",
            function.name
        )));
    }
    let InsertSource::Query(select) = &insert.source else {
        return Err(Error::not_implemented(
            "INSERT INTO FUNCTION file with inline data",
        ));
    };
    if insert.columns.is_some() {
        return Err(Error::not_implemented(
            "INSERT INTO FUNCTION file with a list of columns",
        ));
    }
    let path = function.args.first().ok_or_else(|| {
        Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            "Table function file takes a path, a format and a structure",
        )
    })?;
    let planned = query::plan(session, query, select)?;
    let (plan, header) = match text(function, 2)? {
        None => {
            let columns = planned.columns.iter();
            let header: Header = columns
                .map(|c| (c.name.clone(), c.data_type.clone()))
                .collect();
            (planned.plan, header)
        }
        Some(structure) => typed(session, query, planned, &structure)?,
    };
    let mut output = OutputOptions {
        format: text(function, 1)?.filter(|f| f != "auto"),
        ..OutputOptions::default()
    };
    output.into_outfile = Some(Box::new(IntoOutfile {
        path: path.clone(),
        truncate: query.settings.flag("engine_file_truncate_on_insert"),
        append: true,
        and_stdout: false,
        compression: None,
        level: None,
    }));
    let format = super::result::format_name(session, query, &output);
    if let (Some(file), true) = (&mut output.into_outfile, is_closed(&format)) {
        file.append = false;
    }
    let mut writer = ResultWriter::new(session, query, &header, &output, io.out)?;
    query
        .execution
        .for_each(&plan, true, &mut |batch| writer.batch(&batch))?;
    let written_rows = writer.finish(None)?.result_rows;
    Ok(Summary {
        written_rows,
        ..Summary::default()
    })
}

fn is_closed(format: &str) -> bool {
    CLOSED_FORMATS
        .iter()
        .any(|f| f.eq_ignore_ascii_case(format))
}

/// A constant argument, as text; a bare word is its name.
fn text(function: &TableFunction, idx: usize) -> Result<Option<String>> {
    let Some(arg) = function.args.get(idx) else {
        return Ok(None);
    };
    if let ast::ExprKind::Identifier(parts) = &arg.kind {
        return Ok(Some(parts.join(".")));
    }
    match arg.as_string() {
        Some(bytes) => Ok(Some(String::from_utf8_lossy(bytes).into_owned())),
        None => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "Format and structure of a file must be strings",
        )),
    }
}

/// The rows as columns of a structure, by position.
fn typed(
    session: &Session,
    query: &RunningQuery<'_>,
    planned: Planned,
    structure: &str,
) -> Result<(datafusion::logical_expr::LogicalPlan, Header)> {
    let mut header = Header::new();
    for column in basalt_parser::parse_structure(structure)? {
        let name = column.data_type.as_ref();
        let name = name.map(basalt_parser::format_data_type).ok_or_else(|| {
            let what = format!("Column `{}` of the structure needs a type", column.name);
            Error::new(ErrorCode::SYNTAX_ERROR, what)
        })?;
        header.push((column.name, basalt_types::parse_data_type(&name)?));
    }
    let given: Vec<String> = header.iter().map(|(name, _)| name.clone()).collect();
    let targets: Vec<TargetColumn<'_>> = header
        .iter()
        .map(|(name, data_type)| TargetColumn {
            name,
            data_type,
            default: None,
        })
        .collect();
    let environment = session.environment(query);
    let text = String::from_utf8_lossy(query.text);
    let plan = Analyzer::new(&environment, &text).for_insert(planned, &given, &targets)?;
    Ok((plan, header))
}
