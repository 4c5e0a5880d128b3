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
    /// By taking apart stretches in which rows are in order, also short ones.
    InOrder,
    /// By taking out words that are out of order, also many.
    NearlyInOrder,
    /// By counting digits, where strings are their ranks, however rarely they repeat.
    Ranks,
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
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Auto,
        Self::InOrder,
        Self::NearlyInOrder,
        Self::Ranks,
        Self::Top,
        Self::Counting,
        Self::Radix,
        Self::Comparison,
    ];

    /// The strategy that a setting calls so; none for DataFusion's operator.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|strategy| strategy.name() == name)
    }

    /// What the setting calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::InOrder => "in_order",
            Self::NearlyInOrder => "nearly_in_order",
            Self::Ranks => "ranks",
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
            Self::InOrder
            | Self::NearlyInOrder
            | Self::Ranks
            | Self::Counting
            | Self::Radix
            | Self::Comparison => false,
        }
    }

    /// Whether it is this one that may be taken: it is asked for, or nothing is.
    pub(super) fn may_be(self, other: Self) -> bool {
        self == other || self == Self::Auto
    }

    /// Rows below which a batch of the input is joined with the next: each batch costs something
    /// for every part.
    pub(super) fn min_batch_rows(self) -> usize {
        if self.is_tiny() { 64 } else { 4096 }
    }

    /// Whether work is cut however small the pieces are, so that tests have many of them.
    pub(super) fn is_tiny(self) -> bool {
        match self {
            Self::Auto | Self::Top | Self::Comparison => false,
            Self::InOrder | Self::NearlyInOrder | Self::Ranks | Self::Counting | Self::Radix => {
                true
            }
        }
    }

    /// Words of a part, of `num_words` that `num_tasks` tasks share.
    pub(super) fn part_words(self, num_words: usize, num_tasks: usize) -> usize {
        let shared = num_words / (4 * num_tasks.max(1));
        let fewest = if self.is_tiny() { 1 } else { MIN_PART_WORDS };
        shared.clamp(fewest, MAX_PART_WORDS)
    }

    /// Most bits of keys that are counted, if each task has so many rows; none if keys are not.
    pub(super) fn counted_bits(self, num_rows: usize) -> Option<u32> {
        match self {
            Self::Auto => (num_rows / MIN_RUN_ROWS)
                .checked_ilog2()
                .map(|bits| bits.min(MAX_COUNTED_BITS)),
            Self::Counting => Some(MAX_COUNTED_BITS),
            Self::InOrder
            | Self::NearlyInOrder
            | Self::Ranks
            | Self::Top
            | Self::Radix
            | Self::Comparison => None,
        }
    }
}
