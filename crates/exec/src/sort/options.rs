//! Holds what may be forced about a sort.

/// Words of a part that is sorted in a core's cache.
const MAX_PART_WORDS: usize = 32 << 10;

/// Fewest words that a part of its own is worth.
const MIN_PART_WORDS: usize = 4 << 10;

/// How rows are put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// As the rows suggest.
    #[default]
    Auto,
    /// By counting digits, however few rows there are, and without a look whether they are in order.
    Radix,
    /// By comparing packed keys.
    Comparison,
}

impl Strategy {
    /// The strategy that a setting calls so; none for DataFusion's operator.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "radix" => Some(Self::Radix),
            "comparison" => Some(Self::Comparison),
            _ => None,
        }
    }

    /// What the setting calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Radix => "radix",
            Self::Comparison => "comparison",
        }
    }

    /// Rows below which a batch of the input is joined with the next: each batch costs something
    /// for every part.
    pub(super) fn min_batch_rows(self) -> usize {
        match self {
            Self::Auto | Self::Comparison => 4096,
            Self::Radix => 64,
        }
    }

    /// Words of a part, of `num_words` that `num_tasks` tasks share.
    pub(super) fn part_words(self, num_words: usize, num_tasks: usize) -> usize {
        let shared = num_words / (4 * num_tasks.max(1));
        match self {
            Self::Auto | Self::Comparison => shared.clamp(MIN_PART_WORDS, MAX_PART_WORDS),
            Self::Radix => shared.clamp(1, MAX_PART_WORDS),
        }
    }
}
