//! Numbers groups by keys of few bits: the key is the index of an array.

use crate::Word;

/// Most bits of a key: 16 and a bit for NULL.
pub const MAX_BITS: u32 = 17;

/// Groups by key, for keys below a power of two.
#[derive(Clone, Debug)]
pub struct DirectTable<W> {
    /// Number of the key's group plus one; 0 if it has none.
    groups_plus_one: Vec<u32>,
    keys: Vec<W>,
}

impl<W: Word> DirectTable<W> {
    /// A table for keys of at most `bits` bits.
    pub fn new(bits: u32) -> Self {
        Self {
            groups_plus_one: vec![0; 1 << bits.min(MAX_BITS)],
            keys: Vec::new(),
        }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of each group.
    pub fn keys(&self) -> &[W] {
        &self.keys
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.groups_plus_one.len() * size_of::<u32>() + self.keys.capacity() * size_of::<W>()
    }

    /// Adds a group that no key finds, such as that of NULL.
    pub fn add_unkeyed(&mut self) -> u32 {
        self.keys.push(W::default());
        // At most one group more than the array has elements.
        self.keys.len() as u32 - 1
    }

    /// Appends the group of each key to `groups`; keys that are new become groups.
    ///
    /// Bits beyond those that the table was made for are ignored.
    pub fn intern(&mut self, keys: &[W], groups: &mut Vec<u32>) {
        let mask = self.groups_plus_one.len() - 1;
        groups.extend(keys.iter().map(|key| {
            let group = &mut self.groups_plus_one[key.extract(0) as usize & mask];
            if *group == 0 {
                self.keys.push(*key);
                // At most one group for each of the array's few elements.
                *group = self.keys.len() as u32;
            }
            *group - 1
        }));
    }

    /// Appends the group of each key to `groups`, [`NOT_FOUND`](crate::NOT_FOUND) for keys that have none.
    pub fn find(&self, keys: &[W], groups: &mut Vec<u32>) {
        let mask = self.groups_plus_one.len() - 1;
        let group = |key: &W| self.groups_plus_one[key.extract(0) as usize & mask];
        groups.extend(keys.iter().map(|key| group(key).wrapping_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::DirectTable;
    use crate::NOT_FOUND;

    #[test]
    fn numbers_keys_in_order_of_appearance() {
        let mut table = DirectTable::<u32>::new(9);
        let mut groups = Vec::new();
        table.intern(&[511, 0, 511, 7], &mut groups);
        table.intern(&[7, 8], &mut groups);
        assert_eq!(groups, [0, 1, 0, 2, 2, 3]);
        assert_eq!(table.keys(), [511, 0, 7, 8]);
        let mut found = Vec::new();
        table.find(&[8, 9, 0], &mut found);
        assert_eq!(found, [3, NOT_FOUND, 1]);
    }
}
