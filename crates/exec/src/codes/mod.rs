//! Groups strings that repeat by numbers: where a table on disk has them with dictionaries, a row costs an
//! index into an array instead of a look at its string.
//!
//! The scan gives the number of each row's string ([`StringNumbers`]), whatever the dictionary of the group of
//! rows it stands in. Above it everything works on integers: dense arrays, several keys packed into a
//! word, buffers. A projection above the GROUP BY gives the strings back ([`StringOf`]). The rule that changes
//! plans so is [`crate::rule::NumberKeys`].

mod string_numbers;
mod string_of;

pub use string_numbers::StringNumbers;
pub(crate) use string_of::StringOf;

/// Whether keys of GROUP BY that are strings become numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberedKeys {
    /// Where few different ones are stored.
    #[default]
    Auto,
    /// Wherever a scan can give numbers. For tests.
    Always,
    /// They stay strings.
    Never,
}

impl NumberedKeys {
    /// The words of the setting.
    pub const NAMES: [&str; 3] = ["auto", "always", "never"];

    /// What a word of the setting says.
    pub fn from_name(name: &str) -> Self {
        match name {
            "always" => Self::Always,
            "never" => Self::Never,
            _ => Self::Auto,
        }
    }
}
