//! Writes Template: rows and their surroundings after patterns with places `${column:Rule}`.

use ::arrow::record_batch::RecordBatch;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::rows::bind;
use super::rule::{Rule, RuleWriter};
use super::{Statistics, Writer};
use crate::FormatSettings;

/// A pattern: text, and after each piece of it but the last a place.
struct Pattern {
    texts: Vec<String>,
    places: Vec<Place>,
}

/// `${name:Rule}`
struct Place {
    name: String,
    rule: Option<Rule>,
}

fn invalid(message: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::INVALID_TEMPLATE_FORMAT,
        format!("Invalid format string for Template: {message}"),
    )
}

impl Pattern {
    fn parse(pattern: &str) -> Result<Self> {
        let (mut texts, mut places) = (vec![String::new()], Vec::new());
        let mut rest = pattern;
        while let Some(dollar) = rest.find('$') {
            let (before, behind) = rest.split_at(dollar);
            let text = texts.last_mut().ok_or_else(|| Error::bug("no text"))?;
            text.push_str(before);
            if let Some(more) = behind.strip_prefix("$$") {
                text.push('$');
                rest = more;
                continue;
            }
            let Some(place) = behind.strip_prefix("${") else {
                return Err(invalid(
                    "write $$ for a dollar sign and ${name:Rule} for a place",
                ));
            };
            let (place, more) = place
                .split_once('}')
                .ok_or_else(|| invalid("a place has no '}'"))?;
            let (name, rule) = match place.rsplit_once(':') {
                Some((name, "None" | "")) => (name, None),
                Some((name, rule)) => (name, Some(Rule::parse(rule)?)),
                None => (place, None),
            };
            places.push(Place {
                name: name.trim_matches('`').to_string(),
                rule,
            });
            texts.push(String::new());
            rest = more;
        }
        if let Some(text) = texts.last_mut() {
            text.push_str(rest);
        }
        Ok(Self { texts, places })
    }

    /// The pattern of a setting, or of the file that another one names.
    fn of(text: &str, path: &str, default: &str) -> Result<Self> {
        match (text, path) {
            ("", "") => Self::parse(default),
            ("", path) => {
                let read = std::fs::read_to_string(path);
                let text = read.map_err(|e| Error::from(e).within(path))?;
                // An editor's newline at the end is no part of the pattern.
                Self::parse(text.strip_suffix('\n').unwrap_or(&text))
            }
            (text, _) => Self::parse(text),
        }
    }
}

pub(super) struct TemplateWriter {
    types: Vec<DataType>,
    row: Pattern,
    /// Column of each place of `row`.
    columns: Vec<usize>,
    result: Pattern,
    settings: FormatSettings,
    rules: RuleWriter,
    num_rows: u64,
    totals: Vec<u8>,
    /// The rows of least and of greatest values.
    extremes: [Vec<u8>; 2],
}

impl TemplateWriter {
    pub(super) fn new(header: &[(String, DataType)], settings: &FormatSettings) -> Result<Self> {
        let row = Pattern::of(
            &settings.format_template_row_format,
            &settings.format_template_row,
            "",
        )?;
        if row.places.is_empty() {
            return Err(invalid("format_template_row_format names no columns"));
        }
        let columns = row.places.iter().map(|place| column(place, header));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let result = Pattern::of(
            &settings.format_template_resultset_format,
            &settings.format_template_resultset,
            "${data}",
        )?;
        check_result(&result)?;
        Ok(Self {
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            row,
            columns,
            result,
            settings: settings.clone(),
            rules: RuleWriter::new(settings),
            num_rows: 0,
            totals: Vec::new(),
            extremes: [Vec::new(), Vec::new()],
        })
    }

    fn rows(&self, batch: &RecordBatch, mut each: impl FnMut(usize, &[u8])) -> Result<()> {
        let columns = bind(&self.types, batch, &self.settings.text_options())?;
        for row in 0..batch.num_rows() {
            let mut line = Vec::new();
            let places = self.row.places.iter().zip(&self.columns);
            for (text, (place, column)) in self.row.texts.iter().zip(places) {
                line.extend_from_slice(text.as_bytes());
                let rule = place.rule.unwrap_or(Rule::Raw);
                let value = (&columns[*column], row);
                self.rules
                    .value(rule, &self.types[*column], value, &mut line);
            }
            if let Some(last) = self.row.texts.last() {
                line.extend_from_slice(last.as_bytes());
            }
            each(row, &line);
        }
        Ok(())
    }

    fn place(&self, name: &str, statistics: &Statistics) -> Result<Vec<u8>> {
        Ok(match name {
            "totals" => self.totals.clone(),
            "min" => self.extremes[0].clone(),
            "max" => self.extremes[1].clone(),
            "rows" => self.num_rows.to_string().into_bytes(),
            "rows_before_limit" => match statistics.rows_before_limit_at_least {
                Some(rows) => rows.to_string().into_bytes(),
                None => return Err(invalid("Cannot print rows_before_limit for this request")),
            },
            "rows_read" => statistics.rows_read.to_string().into_bytes(),
            "bytes_read" => statistics.bytes_read.to_string().into_bytes(),
            _ => statistics.elapsed.to_string().into_bytes(),
        })
    }
}

/// Position of a place's column, by name or number.
fn column(place: &Place, header: &[(String, DataType)]) -> Result<usize> {
    let Some(_) = place.rule else {
        let name = &place.name;
        return Err(invalid(format!("column {name} has no escaping rule")));
    };
    let by_name = header.iter().position(|(n, _)| *n == place.name);
    let by_number = || place.name.parse().ok().filter(|i| *i < header.len());
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<&str> = header.iter().map(|(n, _)| n.as_str()).collect();
        Error::new(
            ErrorCode::NOT_FOUND_COLUMN_IN_BLOCK,
            format!(
                "Not found column {} in block. There are only columns: {}",
                place.name,
                names.join(", ")
            ),
        )
    })
}

/// What can stand in the pattern of a result, and whether a rule must say how it is written.
const RESULT_PLACES: [(&str, bool); 9] = [
    ("data", false),
    ("totals", false),
    ("min", false),
    ("max", false),
    ("rows", true),
    ("rows_before_limit", true),
    ("time", true),
    ("rows_read", true),
    ("bytes_read", true),
];

fn check_result(result: &Pattern) -> Result<()> {
    for (i, place) in result.places.iter().enumerate() {
        let Some((name, has_rule)) = RESULT_PLACES.iter().find(|(n, _)| *n == place.name) else {
            return Err(invalid(format!("a result has no part '{}'", place.name)));
        };
        if *has_rule != place.rule.is_some() {
            let wanted = if *has_rule { "needs" } else { "takes no" };
            return Err(invalid(format!("{name} {wanted} escaping rule")));
        }
        if (i == 0) != (*name == "data") {
            return Err(invalid("${data} stands before all other parts, and once"));
        }
    }
    if result.places.is_empty() {
        return Err(invalid("a result has ${data}"));
    }
    Ok(())
}

impl Writer for TemplateWriter {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(self.result.texts[0].as_bytes());
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let between = self
            .settings
            .format_template_rows_between_delimiter
            .as_bytes();
        self.rows(batch, |row, line| {
            if self.num_rows > 0 || row > 0 {
                out.extend_from_slice(between);
            }
            out.extend_from_slice(line);
        })?;
        self.num_rows += batch.num_rows() as u64;
        Ok(())
    }

    fn totals(&mut self, batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        let mut totals = Vec::new();
        self.rows(batch, |_, line| totals.extend_from_slice(line))?;
        self.totals = totals;
        Ok(())
    }

    fn extremes(&mut self, batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        let mut extremes = [Vec::new(), Vec::new()];
        self.rows(batch, |row, line| extremes[row.min(1)] = line.to_vec())?;
        self.extremes = extremes;
        Ok(())
    }

    fn end(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        for (i, text) in self.result.texts.iter().enumerate().skip(1) {
            out.extend_from_slice(text.as_bytes());
            if let Some(place) = self.result.places.get(i) {
                out.extend_from_slice(&self.place(&place.name, statistics)?);
            }
        }
        Ok(())
    }
}
