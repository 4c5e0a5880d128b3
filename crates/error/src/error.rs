//! The one error type of the engine.

use crate::ErrorCode;

/// The result of anything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in a query's text, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line of the text, from 1.
    pub line: u32,
    /// Character of the line, from 1.
    pub column: u32,
}

/// What went wrong: a code for programs, a message for people.
///
/// The message starts with what the reader can do about it (the hint), then says what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    code: ErrorCode,
    message: String,
    /// Bytes of the hint in front that [`Error::hinted`] put there.
    hint_len: usize,
    position: Option<Position>,
}

impl Error {
    /// Makes an error; `message` has no full stop at its end.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            inner: Box::new(Inner {
                code,
                message: shortened(message.into()),
                hint_len: 0,
                position: None,
            }),
        }
    }

    /// A broken invariant of ours, never the user's fault.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::LOGICAL_ERROR, message)
    }

    /// Something the dialect has and the engine does not run yet; names the construct.
    pub fn not_implemented(construct: impl std::fmt::Display) -> Self {
        Self::new(
            ErrorCode::NOT_IMPLEMENTED,
            format!("{construct} is not supported yet"),
        )
    }

    /// Adds where in the query's text the error is; the innermost position stays.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.inner.position.get_or_insert(position);
        self
    }

    /// Puts `hint`, what the reader can do, before all else, as `hint: message`.
    #[must_use]
    pub fn hinted(mut self, hint: impl std::fmt::Display) -> Self {
        let hint = format!("{hint}: ");
        self.inner.hint_len += hint.len();
        self.inner.message = shortened(hint + &self.inner.message);
        self
    }

    /// The error without what [`Self::hinted`] has put before it, for who has a better hint.
    #[must_use]
    pub fn without_hint(mut self) -> Self {
        if let Some((_, message)) = self.inner.message.split_at_checked(self.inner.hint_len) {
            self.inner.message = message.to_owned();
        }
        self.inner.hint_len = 0;
        self
    }

    /// Puts `context` before the message, as `context: message`, but behind a hint.
    #[must_use]
    pub fn within(mut self, context: impl std::fmt::Display) -> Self {
        let split = self.inner.message.split_at_checked(self.inner.hint_len);
        let (hint, message) = split.unwrap_or(("", &self.inner.message));
        self.inner.message = shortened(format!("{hint}{context}: {message}"));
        self
    }

    /// Whether the query ended for a reason that is nowhere in its text: its time, its memory, a fault of
    /// ours.
    pub fn is_of_run(&self) -> bool {
        matches!(
            self.code(),
            ErrorCode::TIMEOUT_EXCEEDED
                | ErrorCode::QUERY_WAS_CANCELLED
                | ErrorCode::MEMORY_LIMIT_EXCEEDED
                | ErrorCode::LOGICAL_ERROR
        )
    }

    /// The code that programs check.
    pub fn code(&self) -> ErrorCode {
        self.inner.code
    }

    /// The message without code, name and position.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// Where in the query's text, if known.
    pub fn position(&self) -> Option<Position> {
        self.inner.position
    }
}

/// Bytes of a message at most; queries and values that messages repeat may be longer.
const MAX_MESSAGE_BYTES: usize = 1_000;

/// Bytes that stay of the end of a longer message, which often says where something is.
const KEPT_END_BYTES: usize = 200;

/// A message without its middle, if it is too long to be read.
fn shortened(message: String) -> String {
    if message.len() <= MAX_MESSAGE_BYTES {
        return message;
    }
    let start = message.floor_char_boundary(MAX_MESSAGE_BYTES - KEPT_END_BYTES);
    let end = message.ceil_char_boundary(message.len() - KEPT_END_BYTES);
    format!("{}…{}", &message[..start], &message[end..])
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Inner {
            code,
            message,
            position,
            hint_len: _,
        } = &*self.inner;
        write!(f, "Code: {}. DB::Exception: {message}", code.number)?;
        if let Some(Position { line, column }) = position {
            write!(f, " (line {line}, column {column})")?;
        }
        write!(f, ". ({})", code.name)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        // A reader that knows more puts our error into one of its library's.
        let inner = e.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        if let Some(ours) = inner {
            return ours.clone();
        }
        let code = match e.kind() {
            std::io::ErrorKind::NotFound => ErrorCode::FILE_DOESNT_EXIST,
            std::io::ErrorKind::UnexpectedEof => ErrorCode::CANNOT_READ_ALL_DATA,
            std::io::ErrorKind::StorageFull
            | std::io::ErrorKind::QuotaExceeded
            | std::io::ErrorKind::FileTooLarge => {
                return Self::new(ErrorCode::NOT_ENOUGH_SPACE, e.to_string())
                    .hinted("Free space on the disk, or allow larger files");
            }
            _ => ErrorCode::CANNOT_OPEN_FILE,
        };
        Self::new(code, e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorCode, MAX_MESSAGE_BYTES};

    #[test]
    fn long_messages_lose_their_middle() {
        let value = "ä".repeat(1_000_000);
        let error = Error::new(ErrorCode::CANNOT_PARSE_TEXT, format!("Bad value '{value}'"));
        let error = error.within("file.csv");
        assert!(error.message().len() <= MAX_MESSAGE_BYTES + "…".len());
        assert!(error.message().starts_with("file.csv: Bad value 'ä"));
        assert!(error.message().contains("…"));
        assert!(error.message().ends_with("ä'"));
    }

    #[test]
    fn hints_stay_in_front() {
        let error = Error::new(ErrorCode::CANNOT_PARSE_TEXT, "Bad value").within("row 2");
        let error = error.hinted("Leave it out").within("file.csv");
        assert_eq!(error.message(), "Leave it out: file.csv: row 2: Bad value");
    }
}
