//! Keys of fixed width, packed into a word.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use arrow::buffer::NullBuffer;
use basalt_hashtable::{
    DirectTable, HashKeys, HashWord, NOT_FOUND, Partitions, TwoLevelWordTable, Word, WordTable,
    partition,
};
use datafusion::error::Result;

use super::key_form::{GroupTable, KeyForm, Keys, group_nulls, intern_valid, table_full};
use super::pack::{Place, pack, unpack};

/// Packed keys of some rows.
#[derive(Clone, Debug)]
pub(super) struct Words<W> {
    /// 0 where NULL.
    words: Vec<W>,
    /// Which rows are not NULL, if the word has no bit for it.
    nulls: Option<NullBuffer>,
}

/// Keys in words of type `W`; those of few bits index an array.
#[derive(Debug)]
pub(super) struct WordForm<W, H> {
    places: Vec<Place>,
    direct_bits: Option<u32>,
    types: PhantomData<(W, H)>,
}

impl<W: Word, H> WordForm<W, H> {
    /// Keys that have these places.
    pub(super) fn new(places: &[Place], direct_bits: Option<u32>) -> Self {
        Self {
            places: places.to_vec(),
            direct_bits,
            types: PhantomData,
        }
    }
}

impl<W: Word, H: HashKeys + HashWord<W>> KeyForm for WordForm<W, H> {
    type Table = WordGroups<W, H>;

    fn table(&self) -> WordGroups<W, H> {
        WordGroups::new(match self.direct_bits {
            Some(bits) => Index::Direct(DirectTable::new(bits)),
            None => Index::Hashed(WordTable::default()),
        })
    }

    fn two_level_table(&self, bits: u32) -> WordGroups<W, H> {
        WordGroups::new(Index::TwoLevel(TwoLevelWordTable::new(bits)))
    }

    fn encode(&self, columns: Vec<ArrayRef>) -> Result<Keys<Self>> {
        let num_rows = columns.first().map_or(0, |c| c.len());
        let mut words = vec![W::default(); num_rows];
        for (column, place) in columns.iter().zip(&self.places) {
            pack(column, place, &mut words)?;
        }
        let nulls = match columns.as_slice() {
            [column] => column.nulls().filter(|n| n.null_count() > 0).cloned(),
            _ => None,
        };
        Ok(Words { words, nulls })
    }

    fn columns(&self, keys: &Keys<Self>) -> Result<Vec<ArrayRef>> {
        let column = |place| unpack(&keys.words, place, keys.nulls.clone());
        self.places.iter().map(column).collect()
    }

    fn decode(&self, table: &WordGroups<W, H>, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let nulls = group_nulls(table.null_group, &range);
        let words = &table.keys()[range];
        self.places
            .iter()
            .map(|place| unpack(words, place, nulls.clone()))
            .collect()
    }
}

#[derive(Debug)]
enum Index<W, H> {
    Direct(DirectTable<W>),
    Hashed(WordTable<W, H>),
    TwoLevel(TwoLevelWordTable<W, H>),
}

/// Groups by word.
pub(super) struct WordGroups<W, H> {
    index: Index<W, H>,
    null_group: Option<u32>,
}

impl<W, H> fmt::Debug for WordGroups<W, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordGroups").finish_non_exhaustive()
    }
}

impl<W: Word, H: HashWord<W>> WordGroups<W, H> {
    fn new(index: Index<W, H>) -> Self {
        Self {
            index,
            null_group: None,
        }
    }

    fn keys(&self) -> &[W] {
        match &self.index {
            Index::Direct(table) => table.keys(),
            Index::Hashed(table) => table.keys(),
            Index::TwoLevel(table) => table.keys(),
        }
    }

    fn intern_words(&mut self, words: &[W], groups: &mut Vec<u32>) -> Result<()> {
        match &mut self.index {
            Index::Direct(table) => {
                table.intern(words, groups);
                Ok(())
            }
            Index::Hashed(table) => table.intern(words, groups).map_err(table_full),
            Index::TwoLevel(table) => table.intern(words, groups).map_err(table_full),
        }
    }

    fn find_words(&self, words: &[W], groups: &mut Vec<u32>) {
        match &self.index {
            Index::Direct(table) => table.find(words, groups),
            Index::Hashed(table) => table.find(words, groups),
            Index::TwoLevel(table) => table.find(words, groups),
        }
    }

    fn null_group(&mut self) -> Result<u32> {
        if let Some(group) = self.null_group {
            return Ok(group);
        }
        let group = match &mut self.index {
            Index::Direct(table) => table.add_unkeyed(),
            Index::Hashed(table) => table.add_unkeyed().map_err(table_full)?,
            Index::TwoLevel(table) => table.add_unkeyed().map_err(table_full)?,
        };
        self.null_group = Some(group);
        Ok(group)
    }
}

impl<W: Word, H: HashKeys + HashWord<W>> GroupTable for WordGroups<W, H> {
    type Keys = Words<W>;

    fn intern(&mut self, keys: &Words<W>, rows: Range<usize>, groups: &mut Vec<u32>) -> Result<()> {
        let nulls = keys.nulls.as_ref().map(|n| n.slice(rows.start, rows.len()));
        let words = &keys.words[rows];
        let Some(nulls) = nulls.filter(|n| n.null_count() > 0) else {
            return self.intern_words(words, groups);
        };
        let null_group = self.null_group()?;
        intern_valid((words, &nulls), null_group, groups, |words, groups| {
            self.intern_words(words, groups)
        })
    }

    fn find(&self, keys: &Words<W>, groups: &mut Vec<u32>) {
        let start = groups.len();
        self.find_words(&keys.words, groups);
        if let Some(nulls) = &keys.nulls {
            let null_group = self.null_group.unwrap_or(NOT_FOUND);
            let found = groups[start..].iter_mut().zip(nulls.iter());
            let nulls = found.filter(|(_, is_valid)| !is_valid);
            nulls.for_each(|(group, _)| *group = null_group);
        }
    }

    fn recycle(mut self) -> Option<Self> {
        match &mut self.index {
            Index::Hashed(table) => table.clear(),
            Index::Direct(_) | Index::TwoLevel(_) => return None,
        }
        Some(Self {
            null_group: None,
            ..self
        })
    }

    fn num_rows(keys: &Words<W>) -> usize {
        keys.words.len()
    }

    fn len(&self) -> usize {
        self.keys().len()
    }

    fn size_bytes(&self) -> usize {
        match &self.index {
            Index::Direct(table) => table.size_bytes(),
            Index::Hashed(table) => table.size_bytes(),
            Index::TwoLevel(table) => table.size_bytes(),
        }
    }

    fn finish(&mut self) {}

    fn split(&self, bits: u32) -> Partitions {
        if let Index::TwoLevel(table) = &self.index
            && table.bits() == bits
        {
            return table.partitions(self.null_group);
        }
        partition(&self.group_hashes(), bits)
    }

    fn group_hashes(&self) -> Vec<u64> {
        self.keys().iter().map(|w| H::hash(*w)).collect()
    }

    fn keys_of(&self, groups: &[u32]) -> Result<Words<W>> {
        let keys = self.keys();
        let words = groups.iter().map(|g| keys[*g as usize]).collect();
        let null = self.null_group.filter(|null| groups.contains(null));
        let nulls = null.map(|null| groups.iter().map(|g| *g != null).collect());
        Ok(Words { words, nulls })
    }

    fn hashes(keys: &Words<W>) -> Vec<u64> {
        keys.words.iter().map(|w| H::hash(*w)).collect()
    }

    fn take(keys: &Words<W>, rows: &[u32]) -> Result<Words<W>> {
        let words = rows.iter().map(|row| keys.words[*row as usize]).collect();
        let is_valid =
            |nulls: &NullBuffer| rows.iter().map(|r| nulls.is_valid(*r as usize)).collect();
        Ok(Words {
            words,
            nulls: keys.nulls.as_ref().map(is_valid),
        })
    }

    fn keys_size_bytes(keys: &Words<W>) -> usize {
        keys.words.capacity() * size_of::<W>()
    }
}
