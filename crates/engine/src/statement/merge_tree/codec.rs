//! Reads `CODEC(…)` of columns, and writes it.

use basalt_codec::{Chain, Packing, UnknownChain};
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, Expr};
use basalt_storage::ColumnCodec;
use basalt_types::DataType;

use crate::catalog::ColumnDefinition;
use crate::statement::query;

/// The codec that a column's CODEC names.
pub(super) fn codec(column: &ColumnDefinition) -> Result<ColumnCodec> {
    let steps = steps(&column.codec);
    if steps.is_empty() || steps == ["Default"] || steps == ["Auto"] {
        return Ok(ColumnCodec::Auto);
    }
    if steps.iter().any(|step| step == "Auto") {
        let text = format!(
            "Auto stands alone, for it chooses all steps: {}",
            column.codec
        );
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    let named = own_steps(&steps, &column.column.data_type)?;
    if named.is_empty() {
        return Ok(ColumnCodec::Auto);
    }
    let chain = Chain::parse(&named.join(", ")).map_err(|e| {
        let code = match e {
            UnknownChain::Name(_) => ErrorCode::NOT_IMPLEMENTED,
            UnknownChain::Level(_) => ErrorCode::ILLEGAL_CODEC_PARAMETER,
            UnknownChain::NoLevel(_) => ErrorCode::DATA_TYPE_CANNOT_HAVE_ARGUMENTS,
            UnknownChain::Order(_) => ErrorCode::BAD_ARGUMENTS,
        };
        Error::new(code, format!("{}: {e}", column.codec))
    })?;
    let data_type = &column.column.data_type;
    if chain.transform.is_some() && !has_fixed_size(data_type) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Codec {} is not applicable for {data_type} because the data type is not of fixed \
                 size",
                steps[0]
            ),
        ));
    }
    let codec = ColumnCodec::Fixed(chain);
    if !codec.is_applicable(data_type) {
        let of = match chain.packing {
            Packing::Decimal => "floats",
            _ => "numbers",
        };
        let text = format!(
            "{} is not applicable for {data_type}: it is for {of}",
            column.codec
        );
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    Ok(codec)
}

/// The steps as a chain takes them: without arguments of packings, which are checked here, and each purpose once.
fn own_steps(steps: &[String], data_type: &DataType) -> Result<Vec<String>> {
    let mut own = Vec::with_capacity(steps.len());
    for step in steps {
        let (name, argument) = match step.strip_suffix(')').and_then(|s| s.split_once('(')) {
            Some((name, argument)) => (name, Some(argument)),
            None => (step.as_str(), None),
        };
        match name {
            "Default" => own.push("LZ4".to_owned()),
            "T64" | "GCD" => {
                check_integers(name, argument, data_type)?;
                // Both leave out bits that no value needs.
                let packings = ["FrameOfReference", "T64", "GCD"];
                let packs = own.iter().any(|step| packings.contains(&step.as_str()));
                let is_done = packs || name == "GCD" && steps.len() > 2;
                if !is_done {
                    own.push(name.to_owned());
                }
            }
            "Gorilla" | "FPC" => {
                check_floats(name, argument, data_type)?;
                own.push(name.to_owned());
            }
            _ => own.push(step.clone()),
        }
    }
    Ok(own)
}

/// Whether values of a type, or all of those inside of them, take as many bytes each.
fn has_fixed_size(data_type: &DataType) -> bool {
    match data_type {
        DataType::Array(element) => has_fixed_size(element),
        DataType::Map(key, value) => has_fixed_size(key) && has_fixed_size(value),
        DataType::Tuple(tuple) => tuple.types.iter().all(has_fixed_size),
        DataType::Nullable(inner) => has_fixed_size(inner),
        other => other.fixed_size_bytes().is_some(),
    }
}

/// The type of the values that a codec gets.
fn innermost(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Nullable(inner) | DataType::LowCardinality(inner) | DataType::Array(inner) => {
            innermost(inner)
        }
        other => other,
    }
}

fn check_integers(codec: &str, argument: Option<&str>, data_type: &DataType) -> Result<()> {
    use DataType as T;
    let data_type = innermost(data_type);
    let is_number = match data_type {
        T::Decimal { precision, .. } => *precision <= 18 || codec == "GCD",
        T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => true,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 => true,
        T::Date | T::Date32 | T::DateTime(_) | T::DateTime64(..) => true,
        T::Enum8(_) | T::Enum16(_) | T::Ipv4 | T::Bool => codec == "T64",
        _ => false,
    };
    match (codec, argument) {
        ("T64", _) if !is_number => Err(Error::new(
            ErrorCode::ILLEGAL_SYNTAX_FOR_CODEC_TYPE,
            format!("T64 codec is not supported for specified type {data_type}"),
        )),
        (_, _) if !is_number => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Codec GCD cannot be applied to {data_type}: it is for numbers without a fraction, dates and times"
            ),
        )),
        ("T64", None | Some("'byte'" | "'bit'")) | (_, None) => Ok(()),
        (_, Some(argument)) => Err(Error::new(
            ErrorCode::ILLEGAL_CODEC_PARAMETER,
            format!("Wrong modification for {codec}: {argument}"),
        )),
    }
}

fn check_floats(codec: &str, argument: Option<&str>, data_type: &DataType) -> Result<()> {
    let data_type = innermost(data_type);
    if !matches!(data_type, DataType::Float32 | DataType::Float64) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Codec {codec} is not applicable for {data_type}: it is for floats"),
        ));
    }
    let numbers = argument.map(|text| text.split(',').map(|n| n.trim().parse::<u8>()).collect());
    let is_known = match (codec, numbers) {
        (_, None) => true,
        ("Gorilla", Some(Ok(numbers))) => matches!(Vec::as_slice(&numbers), [1 | 2 | 4 | 8]),
        (_, Some(Ok(numbers))) => matches!(Vec::as_slice(&numbers), [1..=28] | [1..=28, 4 | 8]),
        (_, Some(Err(_))) => false,
    };
    match is_known {
        true => Ok(()),
        false => Err(Error::new(
            ErrorCode::ILLEGAL_CODEC_PARAMETER,
            format!(
                "The argument of codec {codec} is out of range: {}",
                argument.unwrap_or_default()
            ),
        )),
    }
}

/// The steps of `CODEC(…)`; commas inside arguments part none.
fn steps(codec: &str) -> Vec<String> {
    let list = codec
        .strip_prefix("CODEC(")
        .and_then(|c| c.strip_suffix(')'));
    let mut depth = 0_usize;
    let steps = list.into_iter().flat_map(|list| {
        list.split(move |c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
    });
    steps.map(|s| s.trim().to_owned()).collect()
}

/// `CODEC(…)` with the arguments that ClickHouse adds.
pub(in crate::statement) fn full_codec(column: &ColumnDefinition) -> String {
    let width = column.column.data_type.fixed_size_bytes();
    let full = |step: String| match (step.as_str(), width) {
        ("Delta", Some(width)) => format!("{step}({width})"),
        ("Gorilla", _) => match innermost(&column.column.data_type) {
            DataType::Float32 => "Gorilla(4)".to_owned(),
            _ => "Gorilla(8)".to_owned(),
        },
        ("FPC", _) => "FPC(12)".to_owned(),
        // The width of the values is theirs.
        (fpc, _) if fpc.starts_with("FPC(") => {
            let level = fpc.split([',', ')']).next().unwrap_or_default();
            format!("{level})")
        }
        ("ZSTD", _) => "ZSTD(1)".to_owned(),
        ("LZ4HC", _) => "LZ4HC(9)".to_owned(),
        _ => step,
    };
    let steps: Vec<String> = steps(&column.codec).into_iter().map(full).collect();
    match steps.is_empty() {
        true => String::new(),
        false => format!("CODEC({})", steps.join(", ")),
    }
}

/// `CODEC(…)` as SHOW CREATE has it.
pub(in crate::statement) fn shown_codec(column: &ColumnDefinition) -> Option<Vec<Expr>> {
    let steps = steps(&column.codec);
    let parsed = query::parse_query(&format!("SELECT {}", steps.join(", "))).ok()?;
    match parsed.body {
        ast::SetExpr::Select(select) if !steps.is_empty() => Some(select.columns),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn steps_are_read_from_a_codec() {
        assert_eq!(steps("CODEC(Delta, ZSTD(3))"), ["Delta", "ZSTD(3)"]);
        assert_eq!(steps("CODEC(FPC(12, 4), LZ4)"), ["FPC(12, 4)", "LZ4"]);
        assert!(steps("").is_empty());
    }
}
