//! Hints of functions that go on where one met a value that it cannot take.

use basalt_error::{Error, ErrorCode};
use basalt_functions::registry::find_scalar;

/// Name endings of such functions, in the order in which a hint names them.
const ENDINGS: [&str; 3] = ["OrNull", "OrZero", "OrDefault"];

/// Puts before `error`, which a call of `function` gave for a value, what to call instead, if there is
/// something.
pub(crate) fn with_hint(error: Error, function: &str) -> Error {
    if !is_about_a_value(error.code()) {
        return error;
    }
    let base = if function == "CAST" {
        "accurateCast"
    } else {
        function
    };
    let names: Vec<String> = ENDINGS
        .iter()
        .map(|ending| format!("{base}{ending}"))
        .filter(|name| find_scalar(name).is_some())
        .collect();
    match names.split_last() {
        None => error,
        Some((only, [])) => error.hinted(format!("Use {only} to go on past such values")),
        Some((last, others)) => error.hinted(format!(
            "Use {} or {last} to go on past such values",
            others.join(", ")
        )),
    }
}

/// Whether the error says that one value is none of the type or of the function's domain.
fn is_about_a_value(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ATTEMPT_TO_READ_AFTER_EOF
            | ErrorCode::CANNOT_CONVERT_TYPE
            | ErrorCode::CANNOT_PARSE_BOOL
            | ErrorCode::CANNOT_PARSE_DATE
            | ErrorCode::CANNOT_PARSE_DATETIME
            | ErrorCode::CANNOT_PARSE_IPV4
            | ErrorCode::CANNOT_PARSE_IPV6
            | ErrorCode::CANNOT_PARSE_NUMBER
            | ErrorCode::CANNOT_PARSE_TEXT
            | ErrorCode::CANNOT_PARSE_UUID
            | ErrorCode::ILLEGAL_DIVISION
            | ErrorCode::UNKNOWN_ELEMENT_OF_ENUM
    )
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorCode, with_hint};

    fn message(code: ErrorCode, function: &str) -> String {
        with_hint(Error::new(code, "Bad"), function)
            .message()
            .to_owned()
    }

    #[test]
    fn hints_name_functions_that_exist() {
        assert_eq!(
            message(ErrorCode::CANNOT_PARSE_TEXT, "toInt32"),
            "Use toInt32OrNull, toInt32OrZero or toInt32OrDefault to go on past such values: Bad"
        );
        assert_eq!(
            message(ErrorCode::CANNOT_PARSE_DATE, "CAST"),
            "Use accurateCastOrNull or accurateCastOrDefault to go on past such values: Bad"
        );
        assert_eq!(message(ErrorCode::CANNOT_PARSE_TEXT, "splitByChar"), "Bad");
        assert_eq!(message(ErrorCode::BAD_ARGUMENTS, "toInt32"), "Bad");
    }
}
