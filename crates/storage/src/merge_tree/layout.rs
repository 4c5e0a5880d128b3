//! Says what a table's parts hold: columns, how they are encoded, and which are keys.

use std::sync::Arc;

use basalt_codec::auto::Policy;
use basalt_codec::{Auto, Chain, Codec};
use basalt_error::{Error, Result};
use basalt_types::DataType;

use super::combine::Combine;
use super::encode;
use super::index::Index;

/// How a column's values are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnCodec {
    /// Each block as looks best.
    #[default]
    Auto,
    /// All blocks by the same steps.
    Fixed(Chain),
}

impl ColumnCodec {
    /// Whether values of the type can be encoded so.
    pub fn is_applicable(self, data_type: &DataType) -> bool {
        match self {
            ColumnCodec::Auto => true,
            ColumnCodec::Fixed(chain) => encode::is_applicable(chain, data_type),
        }
    }

    /// A fresh codec for the values of a part.
    pub(super) fn codec(self, effort: Effort) -> Codec {
        match self {
            ColumnCodec::Auto => Codec::Auto(Box::new(Auto::new(effort.policy()))),
            ColumnCodec::Fixed(chain) => Codec::Fixed(chain),
        }
    }
}

/// How much it may take to make blocks small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Somebody waits, and the next merge writes the rows again.
    Quick,
    /// The part will stay, and be read more often than it was written.
    Thorough,
}

impl Effort {
    fn policy(self) -> Policy {
        match self {
            Self::Quick => Policy::default(),
            Self::Thorough => Policy::thorough(),
        }
    }
}

/// A column as parts store it.
#[derive(Clone, Debug)]
pub struct StoredColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// How its values are encoded.
    pub codec: ColumnCodec,
}

/// Columns and keys of a table.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The table's columns, and behind them what is calculated for the keys.
    pub columns: Vec<StoredColumn>,
    /// How many of the columns are the table's.
    pub num_visible: usize,
    /// Columns by which rows are sorted within a part.
    pub sorting_key: Vec<usize>,
    /// Columns whose values are the same in all rows of a part.
    pub partition_key: Vec<usize>,
    /// What becomes of rows with the same sorting key; all of them stay if none.
    pub combine: Option<Arc<dyn Combine>>,
    /// Skipping indexes.
    pub indexes: Vec<Index>,
    /// Columns that tell when a row is expired: Date or DateTime, 0 is never.
    pub ttl: Vec<usize>,
}

impl Layout {
    /// What becomes of rows with the same key, where there are such.
    pub(super) fn combining(&self) -> Option<&Arc<dyn Combine>> {
        let combine = self.combine.as_ref();
        combine.filter(|combine| !self.sorting_key.is_empty() || !combine.needs_key())
    }

    /// Refuses types whose values cannot be kept on disk.
    ///
    /// # Errors
    /// `NOT_IMPLEMENTED` with the name of the type.
    pub fn check_type(data_type: &DataType) -> Result<()> {
        match data_type {
            DataType::Nullable(inner)
            | DataType::LowCardinality(inner)
            | DataType::Array(inner) => Self::check_type(inner),
            DataType::Map(key, value) => {
                Self::check_type(key)?;
                Self::check_type(value)
            }
            DataType::Tuple(tuple) if !tuple.types.is_empty() => {
                tuple.types.iter().try_for_each(Self::check_type)
            }
            DataType::Tuple(_)
            | DataType::Variant(_)
            | DataType::Interval(_)
            | DataType::Nothing => Err(Error::not_implemented(format!(
                "Type {data_type} in a MergeTree table"
            ))),
            _ => Ok(()),
        }
    }
}
