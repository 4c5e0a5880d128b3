//! Keys that are byte strings: one String, or a row of any types in Arrow's row format.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, SortField};
use basalt_hashtable::{
    Arena, BytesTable, HashKeys, KeptBytesTable, NOT_FOUND, Partitions, TableFull,
    TwoLevelBytesTable, Views, partition,
};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

use super::key_form::{GroupTable, KeyForm, Keys, group_nulls, intern_valid, table_full};
use super::string_keys::{StringKeys, hashes_of};

/// One String key.
#[derive(Debug, Default)]
pub(super) struct BytesForm<H>(PhantomData<H>);

impl<H: HashKeys> KeyForm for BytesForm<H> {
    type Table = BytesGroups<H>;

    const ARE_FAR: bool = true;

    fn table(&self) -> BytesGroups<H> {
        BytesGroups::default()
    }

    fn two_level_table(&self, bits: u32) -> BytesGroups<H> {
        BytesGroups::two_level(bits)
    }

    fn merged_table(&self) -> BytesGroups<H> {
        BytesGroups::kept()
    }

    fn encode(&self, columns: Vec<ArrayRef>) -> Result<Keys<Self>> {
        let column = columns.first().and_then(|c| c.as_binary_view_opt());
        let column = column.map(StringKeys::from);
        column.ok_or_else(|| internal_datafusion_err!("a string key is no BinaryView"))
    }

    fn columns(&self, keys: &Keys<Self>) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(keys.array()?)])
    }

    fn decode(&self, table: &BytesGroups<H>, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(table.array(range)?)])
    }
}

/// Keys of any types as rows of bytes.
#[derive(Debug)]
pub(super) struct RowForm<H>(RowConverter, PhantomData<H>);

impl<H> RowForm<H> {
    /// Keys of these types.
    pub(super) fn try_new(types: &[ArrowType]) -> Result<Self> {
        let fields = types.iter().map(|t| SortField::new(t.clone())).collect();
        Ok(Self(RowConverter::new(fields)?, PhantomData))
    }

    fn columns_of(&self, keys: &BinaryViewArray) -> Result<Vec<ArrayRef>> {
        let parser = self.0.parser();
        let rows = (0..keys.len()).map(|i| parser.parse(keys.value(i)));
        Ok(self.0.convert_rows(rows)?)
    }

    /// Whether keys of these types can be rows of bytes.
    pub(super) fn supports(types: &[ArrowType]) -> bool {
        let fields: Vec<_> = types.iter().map(|t| SortField::new(t.clone())).collect();
        RowConverter::supports_fields(&fields)
    }
}

impl<H: HashKeys> KeyForm for RowForm<H> {
    type Table = BytesGroups<H>;

    const ARE_FAR: bool = true;

    fn table(&self) -> BytesGroups<H> {
        BytesGroups::default()
    }

    fn two_level_table(&self, bits: u32) -> BytesGroups<H> {
        BytesGroups::two_level(bits)
    }

    fn merged_table(&self) -> BytesGroups<H> {
        BytesGroups::kept()
    }

    fn encode(&self, columns: Vec<ArrayRef>) -> Result<Keys<Self>> {
        let rows = self.0.convert_columns(&columns)?;
        let mut keys = BinaryViewBuilder::with_capacity(rows.num_rows());
        rows.iter().for_each(|row| keys.append_value(row.as_ref()));
        Ok(StringKeys::from(&keys.finish()))
    }

    fn columns(&self, keys: &Keys<Self>) -> Result<Vec<ArrayRef>> {
        self.columns_of(&keys.array()?)
    }

    fn decode(&self, table: &BytesGroups<H>, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.columns_of(&table.array(range)?)
    }
}

#[derive(Debug)]
enum Index<H> {
    Single(BytesTable<H>),
    TwoLevel(TwoLevelBytesTable<H>),
    /// Keys stay in the rows, whose hashes are known.
    Kept(KeptBytesTable<Buffer>),
}

impl<H: HashKeys> Default for Index<H> {
    fn default() -> Self {
        Self::Single(BytesTable::default())
    }
}

impl<H: HashKeys> Index<H> {
    fn keys(&self) -> &[u128] {
        match self {
            Index::Single(table) => table.keys(),
            Index::TwoLevel(table) => table.keys(),
            Index::Kept(table) => table.keys(),
        }
    }

    fn hashes(&self) -> &[u64] {
        match self {
            Index::Single(table) => table.hashes(),
            Index::TwoLevel(table) => table.hashes(),
            Index::Kept(table) => table.hashes(),
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Index::Single(table) => table.size_bytes(),
            Index::TwoLevel(table) => table.size_bytes(),
            Index::Kept(table) => table.size_bytes(),
        }
    }

    fn add_unkeyed(&mut self) -> Result<u32, TableFull> {
        match self {
            Index::Single(table) => table.add_unkeyed(),
            Index::TwoLevel(table) => table.add_unkeyed(),
            Index::Kept(table) => table.add_unkeyed(),
        }
    }

    fn intern(&mut self, rows: &Views<'_, Buffer>, groups: &mut Vec<u32>) -> Result<(), TableFull> {
        match self {
            Index::Single(table) => table.intern(rows, groups),
            Index::TwoLevel(table) => table.intern(rows, groups),
            Index::Kept(table) => table.intern_hashed(rows, &hashes_of::<H>(rows), groups),
        }
    }

    fn intern_hashed(
        &mut self,
        rows: &Views<'_, Buffer>,
        hashes: &[u64],
        groups: &mut Vec<u32>,
    ) -> Result<(), TableFull> {
        match self {
            Index::Single(table) => table.intern_hashed(rows, hashes, groups),
            // Only the strategy of that name has such tables, and it splits no rows before.
            Index::TwoLevel(table) => table.intern(rows, groups),
            Index::Kept(table) => table.intern_hashed(rows, hashes, groups),
        }
    }

    fn find(&self, rows: &Views<'_, Buffer>, groups: &mut Vec<u32>) {
        match self {
            Index::Single(table) => table.find(rows, groups),
            Index::TwoLevel(table) => table.find(rows, groups),
            Index::Kept(table) => table.find_hashed(rows, &hashes_of::<H>(rows), groups),
        }
    }

    fn take_arena(&mut self) -> Arena {
        match self {
            Index::Single(table) => table.take_arena(),
            Index::TwoLevel(table) => table.take_arena(),
            Index::Kept(_) => Arena::default(),
        }
    }
}

/// Groups by byte string.
#[derive(Debug)]
pub(super) struct BytesGroups<H> {
    table: Index<H>,
    null_group: Option<u32>,
    /// The long keys, once the table is finished.
    buffers: Vec<Buffer>,
}

impl<H: HashKeys> Default for BytesGroups<H> {
    fn default() -> Self {
        Self {
            table: Index::default(),
            null_group: None,
            buffers: Vec::new(),
        }
    }
}

impl<H: HashKeys> BytesGroups<H> {
    pub(super) fn two_level(bits: u32) -> Self {
        Self {
            table: Index::TwoLevel(TwoLevelBytesTable::new(bits)),
            ..Self::default()
        }
    }

    /// An empty table for rows that outlive it.
    pub(super) fn kept() -> Self {
        Self {
            table: Index::Kept(KeptBytesTable::default()),
            ..Self::default()
        }
    }

    /// Keys of the groups in `range` of a table that is finished.
    pub(super) fn array(&self, range: Range<usize>) -> Result<BinaryViewArray> {
        let nulls = group_nulls(self.null_group, &range);
        let (views, buffers) = match &self.table {
            Index::Kept(table) => {
                let (views, arena) = table.copied(range);
                let buffers = arena.into_buffers().into_iter().map(Buffer::from_vec);
                (views, buffers.collect())
            }
            table => (table.keys()[range].to_vec(), self.buffers.clone()),
        };
        Ok(BinaryViewArray::try_new(
            ScalarBuffer::from(views),
            buffers,
            nulls,
        )?)
    }
}

impl<H: HashKeys> GroupTable for BytesGroups<H> {
    type Keys = StringKeys;

    fn intern(
        &mut self,
        keys: &StringKeys,
        rows: Range<usize>,
        groups: &mut Vec<u32>,
    ) -> Result<()> {
        let nulls = keys.nulls.as_ref();
        let nulls = nulls.map(|n| n.slice(rows.start, rows.len()));
        let buffers = keys.buffers.as_slice();
        let views = &keys.views[rows.clone()];
        let Some(nulls) = nulls.filter(|n| n.null_count() > 0) else {
            let views = Views { views, buffers };
            let interned = match &keys.hashes {
                Some(hashes) => self.table.intern_hashed(&views, &hashes[rows], groups),
                None => self.table.intern(&views, groups),
            };
            return interned.map_err(table_full);
        };
        let null_group = match self.null_group {
            Some(group) => group,
            None => self.table.add_unkeyed().map_err(table_full)?,
        };
        self.null_group = Some(null_group);
        let hashes = keys.hashes.as_ref().map(|hashes| &hashes[rows]);
        intern_valid((views, &nulls), null_group, groups, |views, groups| {
            let views = Views { views, buffers };
            let interned = match hashes {
                Some(hashes) => {
                    let valid = nulls.valid_indices().map(|row| hashes[row]);
                    self.table
                        .intern_hashed(&views, &valid.collect::<Vec<_>>(), groups)
                }
                None => self.table.intern(&views, groups),
            };
            interned.map_err(table_full)
        })
    }

    fn find(&self, keys: &StringKeys, groups: &mut Vec<u32>) {
        let start = groups.len();
        self.table.find(&keys.rows(), groups);
        if let Some(nulls) = &keys.nulls {
            let null_group = self.null_group.unwrap_or(NOT_FOUND);
            let found = groups[start..].iter_mut().zip(nulls.iter());
            let nulls = found.filter(|(_, is_valid)| !is_valid);
            nulls.for_each(|(group, _)| *group = null_group);
        }
    }

    fn len(&self) -> usize {
        self.table.keys().len()
    }

    fn size_bytes(&self) -> usize {
        self.table.size_bytes() + self.buffers.iter().map(Buffer::capacity).sum::<usize>()
    }

    fn finish(&mut self) {
        let buffers = self.table.take_arena().into_buffers();
        self.buffers
            .extend(buffers.into_iter().map(Buffer::from_vec));
    }

    fn split(&self, bits: u32) -> Partitions {
        match &self.table {
            Index::TwoLevel(table) if table.bits() == bits => table.partitions(self.null_group),
            table => partition(table.hashes(), bits),
        }
    }

    fn group_hashes(&self) -> Vec<u64> {
        self.table.hashes().to_vec()
    }

    fn keys_of(&self, groups: &[u32]) -> Result<StringKeys> {
        if let Index::Kept(_) = self.table {
            return Err(internal_datafusion_err!("a merged table is merged again"));
        }
        let (keys, hashes) = (self.table.keys(), self.table.hashes());
        let null = self.null_group.filter(|null| groups.contains(null));
        Ok(StringKeys {
            views: groups.iter().map(|g| keys[*g as usize]).collect(),
            buffers: self.buffers.clone(),
            nulls: null.map(|null| groups.iter().map(|g| *g != null).collect()),
            hashes: Some(groups.iter().map(|g| hashes[*g as usize]).collect()),
        })
    }

    fn hashes(keys: &StringKeys) -> Vec<u64> {
        keys.hashes::<H>()
    }

    fn take(keys: &StringKeys, rows: &[u32]) -> Result<StringKeys> {
        Ok(keys.take(rows))
    }

    fn set_hashes(keys: &mut StringKeys, hashes: Vec<u64>) {
        keys.hashes = Some(hashes);
    }

    fn recycle(mut self) -> Option<Self> {
        match &mut self.table {
            Index::Single(table) => table.clear(),
            Index::Kept(table) => table.clear(),
            Index::TwoLevel(_) => return None,
        }
        Some(Self {
            table: self.table,
            ..Self::default()
        })
    }

    fn copied_bytes(&self, range: Range<usize>) -> usize {
        match &self.table {
            Index::Kept(table) => table.copied_bytes(range),
            Index::Single(_) | Index::TwoLevel(_) => 0,
        }
    }

    fn num_rows(keys: &StringKeys) -> usize {
        keys.len()
    }

    fn keys_size_bytes(keys: &StringKeys) -> usize {
        keys.size_bytes()
    }
}
