//! Reads `CODEC(…)` of columns, and writes it.

use basalt_codec::Chain;
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, Expr};
use basalt_storage::ColumnCodec;

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
    let named = steps.iter().map(|step| match step.as_str() {
        "Default" => "LZ4",
        step => step,
    });
    let chain = Chain::parse(&named.collect::<Vec<_>>().join(", "));
    let chain = chain.map_err(|e| Error::not_implemented(format!("{}: {e}", column.codec)))?;
    let data_type = &column.column.data_type;
    if chain.transform.is_some() && data_type.fixed_size_bytes().is_none() {
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
        let text = format!(
            "{} is not applicable for {data_type}: it packs numbers",
            column.codec
        );
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    Ok(codec)
}

/// The steps of `CODEC(…)`.
fn steps(codec: &str) -> Vec<String> {
    let list = codec
        .strip_prefix("CODEC(")
        .and_then(|c| c.strip_suffix(')'));
    let steps = list.into_iter().flat_map(|l| l.split(','));
    steps.map(|s| s.trim().to_owned()).collect()
}

/// `CODEC(…)` with the arguments that ClickHouse adds.
pub(in crate::statement) fn full_codec(column: &ColumnDefinition) -> String {
    let width = column.column.data_type.fixed_size_bytes();
    let full = |step: String| match (step.as_str(), width) {
        ("Delta", Some(width)) => format!("{step}({width})"),
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
        assert!(steps("").is_empty());
    }
}
