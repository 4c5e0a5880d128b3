//! Holds what may be forced about a sort.

/// Words of a part that is sorted in a core's cache.
const MAX_PART_WORDS: usize = 32 << 10;

/// Fewest words that a part of its own is worth.
const MIN_PART_WORDS: usize = 4 << 10;

/// Rows up to which keeping the best is faster than to sort all.
const MAX_TOP_ROWS: usize = 1 << 16;

/// Most bits of keys that are counted: each batch has a counter for every key.
pub(super) const MAX_COUNTED_BITS: u32 = 11;

/// Rows of each key that a task should have, so that they are written in runs.
const MIN_RUN_ROWS: usize = 64;

/// How rows are put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// As the rows suggest.
    #[default]
    Auto,
    /// By keeping the best rows only, where there is a limit, however large.
    Top,
    /// By counting keys, where these are few bits.
    Counting,
    /// By counting digits, however few rows there are, and without a look whether they are in order.
    Radix,
    /// By comparing packed keys.
    Comparison,
}

/// What is forced about a sort.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How rows are put in order.
    pub strategy: Strategy,
    /// Bytes of memory from which on rows go to temporary files; `None` if they never do.
    pub external_bytes: Option<usize>,
}

impl Strategy {
    /// The strategy that a setting calls so; none for DataFusion's operator.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "top" => Some(Self::Top),
            "counting" => Some(Self::Counting),
            "radix" => Some(Self::Radix),
            "comparison" => Some(Self::Comparison),
            _ => None,
        }
    }

    /// What the setting calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Top => "top",
            Self::Counting => "counting",
            Self::Radix => "radix",
            Self::Comparison => "comparison",
        }
    }

    /// Whether to keep only the best of so many rows instead of sorting all.
    pub(super) fn keeps_best(self, num_rows: usize) -> bool {
        match self {
            Self::Auto => num_rows <= MAX_TOP_ROWS,
            Self::Top => true,
            Self::Counting | Self::Radix | Self::Comparison => false,
        }
    }

    /// Rows below which a batch of the input is joined with the next: each batch costs something
    /// for every part.
    pub(super) fn min_batch_rows(self) -> usize {
        match self {
            Self::Auto | Self::Top | Self::Comparison => 4096,
            Self::Counting | Self::Radix => 64,
        }
    }

    /// Whether work is cut however small the pieces are, so that tests have many of them.
    pub(super) fn is_tiny(self) -> bool {
        match self {
            Self::Auto | Self::Top | Self::Comparison => false,
            Self::Counting | Self::Radix => true,
        }
    }

    /// Words of a part, of `num_words` that `num_tasks` tasks share.
    pub(super) fn part_words(self, num_words: usize, num_tasks: usize) -> usize {
        let shared = num_words / (4 * num_tasks.max(1));
        match self {
            Self::Auto | Self::Top | Self::Comparison => {
                shared.clamp(MIN_PART_WORDS, MAX_PART_WORDS)
            }
            Self::Counting | Self::Radix => shared.clamp(1, MAX_PART_WORDS),
        }
    }

    /// Most bits of keys that are counted, if each task has so many rows; none if keys are not.
    pub(super) fn counted_bits(self, num_rows: usize) -> Option<u32> {
        match self {
            Self::Auto => (num_rows / MIN_RUN_ROWS)
                .checked_ilog2()
                .map(|bits| bits.min(MAX_COUNTED_BITS)),
            Self::Counting => Some(MAX_COUNTED_BITS),
            Self::Top | Self::Radix | Self::Comparison => None,
        }
    }
}
