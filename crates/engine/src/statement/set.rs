//! Runs SET, USE and SYSTEM.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{ExprKind, Literal, Setting, Use};

use crate::session::{RunningQuery, Session, Summary};
use crate::settings::{Kind, Settings, find};

/// `SET name = value, …`; `SET param_x = value` sets a query parameter.
pub(crate) fn run(session: &mut Session, text: &[u8], settings: &[Setting]) -> Result<Summary> {
    for setting in settings {
        match setting.name.strip_prefix("param_") {
            Some(parameter) => {
                let value = value_text(setting).unwrap_or_default();
                session.parameters.insert(parameter.to_owned(), value);
            }
            None => {
                let place = || basalt_parser::position_of(text, setting.span.start as usize);
                apply(&mut session.settings, setting).map_err(|e| e.at(place()))?;
            }
        }
    }
    Ok(Summary::default())
}

/// Sets one setting, or resets it for `name = DEFAULT`.
pub(crate) fn apply(settings: &mut Settings, setting: &Setting) -> Result<()> {
    let is_bool = || find(&setting.name).is_none_or(|known| known.kind == Kind::Bool);
    if setting.is_flag && !is_bool() {
        return Err(Error::new(
            ErrorCode::TYPE_MISMATCH,
            format!(
                "Give setting {} a value: only those of Bool need none",
                setting.name
            ),
        ));
    }
    match value_text(setting) {
        Some(value) => settings.set(&setting.name, &value),
        None => settings.reset(&setting.name),
    }
}

/// The value as text; none for `DEFAULT`.
pub(crate) fn value_text(setting: &Setting) -> Option<String> {
    let value = setting.value.as_ref()?;
    Some(match &value.kind {
        ExprKind::Literal(Literal::String(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        ExprKind::Literal(Literal::UInt(n)) => n.to_string(),
        ExprKind::Literal(Literal::Int(n)) => n.to_string(),
        ExprKind::Literal(Literal::Float(f)) => f.text.clone(),
        ExprKind::Literal(Literal::Bool(b)) => u8::from(*b).to_string(),
        _ => basalt_parser::format_expr(value),
    })
}

/// SYSTEM commands about logs, fetches and dictionaries, which Basalt has not: nothing is to do.
const NOTHING_TO_DO: [&str; 8] = [
    "FLUSH LOGS",
    "JEMALLOC PURGE",
    "RELOAD DICTIONARIES",
    "RELOAD FUNCTIONS",
    "START FETCHES",
    "START TTL MERGES",
    "STOP FETCHES",
    "STOP TTL MERGES",
];

/// `SYSTEM command`.
pub(crate) fn system(
    session: &Session,
    query: &RunningQuery<'_>,
    command: &str,
) -> Result<Summary> {
    let is_cache = command.starts_with("DROP ") || command.starts_with("CLEAR ");
    let is_nothing = (is_cache && command.ends_with(" CACHE")) || NOTHING_TO_DO.contains(&command);
    match command {
        "" => Err(Error::new(
            ErrorCode::SYNTAX_ERROR,
            "Write a command behind SYSTEM, such as SYSTEM FLUSH LOGS",
        )),
        "RELOAD CONFIG" => Err(Error::new(
            ErrorCode::UNSUPPORTED_METHOD,
            "Leave it out: there is no configuration file that SYSTEM RELOAD CONFIG could read",
        )),
        "FLUSH ASYNC INSERT QUEUE" => {
            let catalog = &session.database.catalog;
            catalog.flush_inserts(&|| query.control.check_end())?;
            Ok(Summary::default())
        }
        "CLEAR UNCOMPRESSED CACHE" => {
            session.database.blocks.clear();
            Ok(Summary::default())
        }
        _ if is_nothing => Ok(Summary::default()),
        _ => Err(Error::not_implemented(format!("SYSTEM {command}"))),
    }
}

/// `USE database`.
pub(crate) fn use_database(session: &mut Session, database: &Use) -> Result<Summary> {
    let name = if database.is_parameter {
        session
            .parameters
            .get(&database.database)
            .cloned()
            .unwrap_or_default()
    } else {
        database.database.clone()
    };
    session.use_database(&name)?;
    Ok(Summary::default())
}
