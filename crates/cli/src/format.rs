//! Runs `basalt format`: lays out the statements of a text.

use std::io::{Read, Write};

use basalt_error::{Error, Result};
use clap::ArgMatches;

/// Writes the statements of standard input (or of `--query`), laid out.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let text = match options.get_one::<String>("query") {
        Some(query) => query.clone().into_bytes(),
        None => {
            let mut text = Vec::new();
            std::io::stdin()
                .read_to_end(&mut text)
                .map_err(Error::from)?;
            text
        }
    };
    let one_line = options.get_flag("oneline");
    let mut laid_out = Vec::new();
    let mut statements = Vec::new();
    for parsed in basalt_parser::parse_statements(&text) {
        statements.push(parsed?);
    }
    let is_script = statements.len() > 1;
    for parsed in &statements {
        let statement = if one_line {
            basalt_parser::format_one_line(&parsed.statement)
        } else {
            basalt_parser::format_statement(&parsed.statement)
        };
        laid_out.extend_from_slice(statement.as_bytes());
        if let Some(data) = parsed.data.clone().and_then(|d| text.get(d)) {
            laid_out.push(b'\n');
            laid_out.extend_from_slice(data.trim_ascii());
        }
        laid_out.extend_from_slice(if is_script { b";\n" } else { b"\n" });
    }
    std::io::stdout().write_all(&laid_out).map_err(Error::from)
}
