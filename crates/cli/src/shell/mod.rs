//! Runs the interactive shell of `basalt local`: reads statements, runs them, survives them.
//!
//! Knows neither the engine nor its results: a [`ShellSession`] runs text and prints. Ctrl-C while typing
//! drops the text, while a query runs it cancels the query; Ctrl-D, `exit` and `quit` leave.
//!
//! | module | owns |
//! |---|---|
//! | [`complete`] | what Tab offers |
//! | [`editor`] | the line editor: keys, colours, menu, history |
//! | [`highlight`] | the colours of the text that is being typed |
//! | [`history`] | where typed statements are kept |
//! | [`interrupt`] | Ctrl-C while a query runs |
//! | [`prompt`] | what stands before the text |
//! | [`statement`] | when Enter runs the text, and which text leaves |

mod complete;
mod editor;
mod highlight;
mod history;
mod interrupt;
mod prompt;
mod statement;

pub(crate) use complete::Names;

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use parking_lot::Mutex;
use reedline::Signal;

use interrupt::Interrupts;
use prompt::ShellPrompt;

/// Asks the running query to end; called from another thread, any number of times.
pub(crate) type Canceller = Arc<dyn Fn() + Send + Sync>;

/// What the shell needs of the engine.
pub(crate) trait ShellSession {
    /// Runs one or more statements and prints their results and errors. Returns at the end of
    /// the last one, or soon after the canceller was called.
    fn execute(&mut self, text: &str);

    /// Names that the user may want to type now.
    fn completions(&self) -> Names;

    /// Cancels what [`ShellSession::execute`] is running; must do nothing between queries.
    fn canceller(&self) -> Canceller;
}

const HELP: &str = "\
A statement of one line runs with Enter; one of several lines ends with ; or an empty line.
\\G at the end shows each row on lines of its own. FORMAT JSON and others shape the result.

  SHOW TABLES                      tables of the current database
  DESCRIBE 'file.parquet'          columns of a file or a table
  SELECT … FROM 'file.parquet'     rows of a file
  SET name = value                 a setting, for all that follows
  SHOW SETTINGS LIKE '%join%'      settings with their values
  SELECT name FROM system.functions WHERE name ILIKE '%date%'

Tab completes names, Alt-Enter starts a new line, Ctrl-R searches what was typed before.
Ctrl-C cancels the query that runs, exit or Ctrl-D leaves.
";

/// Reads and runs statements until the user leaves.
pub(crate) fn run(session: &mut dyn ShellSession) -> Result<()> {
    let names = Arc::new(Mutex::new(session.completions()));
    let interrupts = Interrupts::install()?;
    let mut editor = editor::new(Arc::clone(&names));
    let prompt = ShellPrompt;
    loop {
        match editor.read_line(&prompt).map_err(terminal_failed)? {
            Signal::Success(text) if statement::leaves(&text) => return Ok(()),
            Signal::Success(text) if statement::asks_for_help(&text) => eprintln!("{HELP}"),
            Signal::Success(text) if text.trim().is_empty() => {}
            Signal::Success(text) => {
                interrupts.during(session.canceller(), || session.execute(&text));
                *names.lock() = session.completions();
            }
            Signal::CtrlD => return Ok(()),
            // Ctrl-C has dropped the text; the other signals are not asked for.
            _ => {}
        }
    }
}

fn terminal_failed(error: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::CANNOT_READ_FROM_FILE_DESCRIPTOR,
        format!("cannot read from the terminal: {error}"),
    )
}
