//! Reads the command line, and says what is wrong with one: the hint first, as in every error.

use std::ffi::OsString;

use basalt_error::{Error, ErrorCode, Result};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};

/// The options of `args`, of which the first is the program's name. Help and versions that were
/// asked for are printed, and the process ends.
///
/// # Errors
/// `UNRECOGNIZED_ARGUMENTS` for an unknown command or option, `BAD_ARGUMENTS` for anything else.
pub(crate) fn matches(command: Command, args: &[OsString]) -> Result<ArgMatches> {
    let names = |command: &Command| -> Vec<String> {
        let commands = command.get_subcommands();
        commands.map(|c| c.get_name().to_owned()).collect()
    };
    let first = args.get(1).map(|arg| arg.to_string_lossy().into_owned());
    let first = first.filter(|first| command.find_subcommand(first).is_some());
    // Of a command that has commands itself, these are the ones to take.
    let inner = first
        .iter()
        .find_map(|first| command.find_subcommand(first));
    let inner = inner.map(names).filter(|inner| !inner.is_empty());
    let commands = inner.unwrap_or_else(|| names(&command));
    command.try_get_matches_from(args).map_err(|e| {
        let shows_help = matches!(
            e.kind(),
            ErrorKind::DisplayHelp
                | ErrorKind::DisplayVersion
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        );
        if shows_help {
            e.exit();
        }
        let help = match &first {
            Some(command) => format!("basalt {command} --help"),
            None => "basalt --help".to_owned(),
        };
        explained(&e, &commands, &help)
    })
}

/// What the library found, as an error of ours; `help` tells of the options.
fn explained(e: &clap::Error, commands: &[String], help: &str) -> Error {
    let argument = text(e, ContextKind::InvalidArg);
    let value = text(e, ContextKind::InvalidValue);
    let (code, message) = match e.kind() {
        ErrorKind::UnknownArgument => {
            let hint = maybe(&text(e, ContextKind::SuggestedArg));
            let hint = hint.unwrap_or_else(|| format!("See {help}. "));
            let message = format!("{hint}Unrecognized option '{argument}'");
            (ErrorCode::UNRECOGNIZED_ARGUMENTS, message)
        }
        ErrorKind::InvalidSubcommand => {
            let name = text(e, ContextKind::InvalidSubcommand);
            let hint = maybe(&text(e, ContextKind::SuggestedSubcommand));
            let hint = hint.unwrap_or_else(|| format!("Use one of {}. ", commands.join(", ")));
            let message = format!("{hint}Unrecognized command '{name}'");
            (ErrorCode::UNRECOGNIZED_ARGUMENTS, message)
        }
        ErrorKind::InvalidValue if value.is_empty() => (
            ErrorCode::BAD_ARGUMENTS,
            format!("Write a value behind {argument}: it has none"),
        ),
        ErrorKind::InvalidValue => {
            let hint = maybe(&text(e, ContextKind::SuggestedValue));
            let known = text(e, ContextKind::ValidValue);
            let hint = hint.unwrap_or_else(|| format!("Use one of {known}. "));
            let message = format!("{hint}Invalid value '{value}' of {argument}");
            (ErrorCode::BAD_ARGUMENTS, message)
        }
        ErrorKind::MissingRequiredArgument => (
            ErrorCode::BAD_ARGUMENTS,
            format!("Give {argument} as well: see {help}"),
        ),
        ErrorKind::ArgumentConflict => {
            let other = text(e, ContextKind::PriorArg);
            let hint = if other.is_empty() || other == argument {
                format!("Give {argument} once")
            } else {
                format!("Give {argument} or {other}, not both")
            };
            (ErrorCode::BAD_ARGUMENTS, hint)
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(e).map(|e| format!(": {e}"));
            let message = format!(
                "Give {argument} another value than '{value}'{}",
                why.unwrap_or_default()
            );
            (ErrorCode::BAD_ARGUMENTS, message)
        }
        _ => {
            let rendered = e.to_string();
            let line = rendered.lines().next().unwrap_or_default();
            let line = line.strip_prefix("error: ").unwrap_or(line);
            (ErrorCode::BAD_ARGUMENTS, format!("See {help}: {line}"))
        }
    };
    Error::new(code, message)
}

/// A hint of near names, which are separated by commas.
fn maybe(near: &str) -> Option<String> {
    let near = near.replace(", ", "', '");
    (!near.is_empty()).then(|| format!("Maybe you meant: ['{near}']. "))
}

/// What the library tells about its error, several things separated by commas.
fn text(e: &clap::Error, kind: ContextKind) -> String {
    match e.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;
    use crate::arguments;

    fn message(args: &str) -> String {
        let args: Vec<_> = args.split(' ').map(Into::into).collect();
        matches(arguments::command(), &args).map_or_else(|e| e.to_string(), |_| String::new())
    }

    #[test]
    fn wrong_command_lines_get_a_hint_first() {
        for (args, expected) in [
            (
                "basalt local --formt CSV",
                "Code: 552. DB::Exception: Maybe you meant: ['--format']. Unrecognized option '--formt'. (UNRECOGNIZED_ARGUMENTS)",
            ),
            (
                "basalt local --max_thraeds 1",
                "Code: 552. DB::Exception: Maybe you meant: ['--max_threads']. Unrecognized option '--max_thraeds'. (UNRECOGNIZED_ARGUMENTS)",
            ),
            (
                "basalt lcal",
                "Code: 552. DB::Exception: Maybe you meant: ['lab', 'local']. Unrecognized command 'lcal'. (UNRECOGNIZED_ARGUMENTS)",
            ),
            (
                "basalt locl",
                "Code: 552. DB::Exception: Maybe you meant: ['local']. Unrecognized command 'locl'. (UNRECOGNIZED_ARGUMENTS)",
            ),
            (
                "basalt local -Z",
                "Code: 552. DB::Exception: See basalt local --help. Unrecognized option '-Z'. (UNRECOGNIZED_ARGUMENTS)",
            ),
            (
                "basalt local --query",
                "Code: 36. DB::Exception: Write a value behind --query <SQL>: it has none. (BAD_ARGUMENTS)",
            ),
            (
                "basalt datagen hits",
                "Code: 36. DB::Exception: Give --out <FILE> as well: see basalt datagen --help. (BAD_ARGUMENTS)",
            ),
            (
                "basalt datagen htis",
                "Code: 36. DB::Exception: Maybe you meant: ['hits']. Invalid value 'htis' of <kind>. (BAD_ARGUMENTS)",
            ),
            (
                "basalt datagen hits --rows x --out y",
                "Code: 36. DB::Exception: Give --rows <N> another value than 'x': invalid digit found in string. (BAD_ARGUMENTS)",
            ),
            (
                "basalt local --format a --format b",
                "Code: 36. DB::Exception: Give --format <FORMAT> once. (BAD_ARGUMENTS)",
            ),
            (
                "basalt lab group-by --sizes 1k --rows 5",
                "Code: 36. DB::Exception: Give --sizes <LIST> or --rows <N>, not both. (BAD_ARGUMENTS)",
            ),
        ] {
            assert_eq!(message(args), expected, "{args}");
        }
        let unknown = message("basalt nosuch");
        assert!(unknown.contains("Use one of local, datagen"), "{unknown}");
        let unknown = message("basalt lab nosuch");
        assert!(unknown.contains("Use one of average, sum"), "{unknown}");
    }
}
