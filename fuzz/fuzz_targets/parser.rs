//! Feeds any bytes to the front end: nothing panics, and what parses survives formatting.
//!
//! `make fuzz` runs it from the statements in `crates/parser/tests/data`.
#![no_main]

use basalt_parser::{explain_ast, format_one_line, format_statement, parse_statement, parse_statements};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    for parsed in parse_statements(text) {
        let Ok(parsed) = parsed else { break };
        explain_ast(&parsed.statement);
        for formatted in [format_one_line(&parsed.statement), format_statement(&parsed.statement)] {
            let again = parse_statement(&formatted)
                .unwrap_or_else(|e| panic!("{formatted}\ndoes not parse: {e}"));
            assert_eq!(again.statement, parsed.statement, "{formatted}\nis another tree");
        }
    }
});
