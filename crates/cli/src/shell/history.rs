//! Keeps typed statements from one session to the next.

use std::{env, path::PathBuf};

use reedline::FileBackedHistory;

const MAX_STATEMENTS: usize = 10_000;

/// The history in its file, or in memory with a warning when the file cannot be used.
pub(super) fn open() -> Option<FileBackedHistory> {
    let path = path(|name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    });
    let opened = match &path {
        Some(path) => FileBackedHistory::with_file(MAX_STATEMENTS, path.clone()),
        None => FileBackedHistory::new(MAX_STATEMENTS),
    };
    opened
        .or_else(|e| {
            eprintln!(
                "the history is not kept, set BASALT_HISTORY to a file that can be written: {e}"
            );
            FileBackedHistory::new(MAX_STATEMENTS)
        })
        .ok()
}

/// `$BASALT_HISTORY`, else `basalt/history` in the folder where XDG wants such files.
fn path(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    variable("BASALT_HISTORY").or_else(|| {
        let share = variable("XDG_DATA_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".local/share")))?;
        Some(share.join("basalt/history"))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::path;

    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let found = path(|name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| PathBuf::from(value))
        });
        assert_eq!(found, expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn the_nearest_variable_wins() {
        check(&[], None);
        check(&[("HOME", "/h")], Some("/h/.local/share/basalt/history"));
        check(
            &[("HOME", "/h"), ("XDG_DATA_HOME", "/x")],
            Some("/x/basalt/history"),
        );
        check(&[("HOME", "/h"), ("BASALT_HISTORY", "/b")], Some("/b"));
    }
}
