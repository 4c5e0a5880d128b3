//! Builds the line editor: keys, colours, the completion menu and history.

use std::{env, sync::Arc};

use nu_ansi_term::{Color, Style};
use parking_lot::Mutex;
use reedline::{
    ColumnarMenu, DefaultHinter, EditCommand, Emacs, KeyCode, KeyModifiers, MenuBuilder, Reedline,
    ReedlineEvent, ReedlineMenu, default_emacs_keybindings,
};

use super::{
    complete::{Names, WordCompleter},
    highlight::TokenColours,
    history,
    statement::StatementEnd,
};

const MENU: &str = "completion";

/// An editor for SQL whose completion offers `names`.
pub(super) fn new(names: Arc<Mutex<Names>>) -> Reedline {
    let menu = ColumnarMenu::default().with_name(MENU).with_columns(4);
    let hint_style = Style::new().fg(Color::DarkGray).italic();
    let editor = Reedline::create()
        .with_edit_mode(Box::new(keys()))
        .with_completer(Box::new(WordCompleter::new(names)))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_highlighter(Box::new(TokenColours))
        .with_hinter(Box::new(DefaultHinter::default().with_style(hint_style)))
        .with_validator(Box::new(StatementEnd))
        .with_ansi_colors(env::var_os("NO_COLOR").is_none())
        // A pasted text comes in one piece instead of running line by line.
        .use_bracketed_paste(true);
    match history::open() {
        Some(history) => editor.with_history(Box::new(history)),
        None => editor,
    }
}

fn keys() -> Emacs {
    let mut keys = default_emacs_keybindings();
    keys.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]),
    );
    keys.add_binding(
        KeyModifiers::SHIFT,
        KeyCode::BackTab,
        ReedlineEvent::MenuPrevious,
    );
    keys.add_binding(
        KeyModifiers::ALT,
        KeyCode::Enter,
        ReedlineEvent::Edit(vec![EditCommand::InsertNewline]),
    );
    Emacs::new(keys)
}
