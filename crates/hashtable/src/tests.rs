//! Runs random lists of operations on every table and on `std::collections::HashMap` beside it,
//! with hashes as they are and with all of them 0.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

use crate::views::{INLINE_LEN, LongKeys, inline_view, view_len};
use crate::{
    Arena, BytesTable, DirectTable, Fold, HashBytes, HashWord, KeptBytesTable, NOT_FOUND,
    Partitions, TwoLevelBytesTable, TwoLevelWordTable, Views, Word, Word256, WordTable, Zero,
};

/// What can be done with a table. Keys are numbers, which each table makes keys of its own from.
#[derive(Clone, Debug)]
enum Operation {
    Intern(Vec<u64>),
    Find(Vec<u64>),
    AddUnkeyed,
    Clear,
}

/// A table, seen the same way for all kinds of keys.
trait Table {
    type Key: Clone + Debug + Eq + Hash;

    /// The key that a number stands for.
    fn key(number: u64) -> Self::Key;
    fn intern(&mut self, keys: &[Self::Key]) -> Vec<u32>;
    fn find(&self, keys: &[Self::Key]) -> Vec<u32>;
    fn add_unkeyed(&mut self) -> u32;
    /// Key of each group; that of a group without a key is any.
    fn keys(&self) -> Vec<Self::Key>;
    /// Groups by partition, if the table has such.
    fn partitions(&self, _unkeyed: Option<u32>) -> Option<Partitions> {
        None
    }
    /// Forgets all groups; false if the table cannot.
    fn clear(&mut self) -> bool {
        false
    }
}

/// Keys of four kinds of repetition: few, many, in runs, and regular.
fn keys() -> impl Strategy<Value = Vec<u64>> {
    let runs = prop::collection::vec((0u64..30, 1usize..90), 0..12);
    let runs = runs.prop_map(|runs| {
        let repeated = runs.into_iter().map(|(key, len)| vec![key; len]);
        repeated.flatten().collect()
    });
    prop_oneof![
        prop::collection::vec(0u64..40, 0..700),
        prop::collection::vec(any::<u64>(), 0..700),
        runs,
        (any::<u64>(), 1u64..1 << 40, 0u64..700).prop_map(|(first, step, len)| (0..len)
            .map(|i| first.wrapping_add(i * step))
            .collect()),
    ]
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        5 => keys().prop_map(Operation::Intern),
        3 => keys().prop_map(Operation::Find),
        1 => Just(Operation::AddUnkeyed),
        1 => Just(Operation::Clear),
    ];
    prop::collection::vec(operation, 0..14)
}

fn check<T: Table>(mut table: T, operations: &[Operation]) {
    let mut model: HashMap<T::Key, u32> = HashMap::new();
    let mut num_groups = 0;
    let mut unkeyed = None;
    for operation in operations {
        match operation {
            Operation::Intern(numbers) => {
                let keys: Vec<T::Key> = numbers.iter().map(|n| T::key(*n)).collect();
                let expected = keys.iter().map(|key| {
                    *model.entry(key.clone()).or_insert_with(|| {
                        num_groups += 1;
                        num_groups - 1
                    })
                });
                let expected: Vec<u32> = expected.collect();
                assert_eq!(table.intern(&keys), expected);
            }
            Operation::Find(numbers) => {
                let keys: Vec<T::Key> = numbers.iter().map(|n| T::key(*n)).collect();
                let expected = keys.iter().map(|key| model.get(key).copied());
                let expected: Vec<u32> = expected.map(|g| g.unwrap_or(NOT_FOUND)).collect();
                assert_eq!(table.find(&keys), expected);
            }
            Operation::AddUnkeyed if unkeyed.is_none() => {
                unkeyed = Some(table.add_unkeyed());
                assert_eq!(unkeyed, Some(num_groups));
                num_groups += 1;
            }
            Operation::Clear if table.clear() => {
                (model, num_groups, unkeyed) = (HashMap::new(), 0, None);
            }
            Operation::AddUnkeyed | Operation::Clear => {}
        }
    }
    let keys = table.keys();
    assert_eq!(keys.len(), num_groups as usize);
    for (key, group) in &model {
        assert_eq!(keys[*group as usize], *key);
    }
    if let Some(partitions) = table.partitions(unkeyed) {
        let mut groups = partitions.rows;
        groups.sort_unstable();
        assert_eq!(groups, (0..num_groups).collect::<Vec<u32>>());
    }
}

/// A word in which every bit of a number counts, also beyond 64 bits.
fn word<W: Word>(number: u64) -> W {
    let shifts = (0..W::BITS).step_by(64);
    let pieces = shifts.map(|shift| W::place(number.rotate_left(shift / 8), shift));
    pieces.fold(W::default(), W::union)
}

impl<W: Word, H: HashWord<W>> Table for WordTable<W, H> {
    type Key = W;

    fn key(number: u64) -> W {
        word(number)
    }

    fn intern(&mut self, keys: &[W]) -> Vec<u32> {
        let mut groups = Vec::new();
        self.intern(keys, &mut groups).unwrap();
        groups
    }

    fn find(&self, keys: &[W]) -> Vec<u32> {
        let mut groups = Vec::new();
        self.find(keys, &mut groups);
        groups
    }

    fn add_unkeyed(&mut self) -> u32 {
        self.add_unkeyed().unwrap()
    }

    fn keys(&self) -> Vec<W> {
        self.keys().to_vec()
    }

    fn clear(&mut self) -> bool {
        self.clear();
        true
    }
}

impl<W: Word, H: HashWord<W>> Table for TwoLevelWordTable<W, H> {
    type Key = W;

    fn key(number: u64) -> W {
        word(number)
    }

    fn intern(&mut self, keys: &[W]) -> Vec<u32> {
        let mut groups = Vec::new();
        self.intern(keys, &mut groups).unwrap();
        groups
    }

    fn find(&self, keys: &[W]) -> Vec<u32> {
        let mut groups = Vec::new();
        self.find(keys, &mut groups);
        groups
    }

    fn add_unkeyed(&mut self) -> u32 {
        self.add_unkeyed().unwrap()
    }

    fn keys(&self) -> Vec<W> {
        self.keys().to_vec()
    }

    fn partitions(&self, unkeyed: Option<u32>) -> Option<Partitions> {
        Some(self.partitions(unkeyed))
    }
}

/// Bits of the keys of the table that they index.
const DIRECT_BITS: u32 = 9;

impl Table for DirectTable<u32> {
    type Key = u32;

    fn key(number: u64) -> u32 {
        number as u32 % (1 << DIRECT_BITS)
    }

    fn intern(&mut self, keys: &[u32]) -> Vec<u32> {
        let mut groups = Vec::new();
        self.intern(keys, &mut groups);
        groups
    }

    fn find(&self, keys: &[u32]) -> Vec<u32> {
        let mut groups = Vec::new();
        self.find(keys, &mut groups);
        groups
    }

    fn add_unkeyed(&mut self) -> u32 {
        self.add_unkeyed()
    }

    fn keys(&self) -> Vec<u32> {
        self.keys().to_vec()
    }
}

/// Strings of all lengths up to 40 that share their beginnings; some are empty.
fn string(number: u64) -> Vec<u8> {
    match number % 5 {
        0 => Vec::new(),
        1 => (number / 5 % 7).to_string().into_bytes(),
        2 => number.to_string().into_bytes(),
        _ => {
            let len = (number / 5 % 28) as usize;
            let end = number.to_string();
            format!("prefix{:a<len$}{end}", "").into_bytes()
        }
    }
}

/// Strings as views, with the arena that has the long ones.
fn views(keys: &[Vec<u8>]) -> (Vec<u128>, Arena) {
    let mut arena = Arena::default();
    let view = |key: &Vec<u8>| {
        if key.len() > INLINE_LEN {
            return arena.push(key);
        }
        inline_view(key)
    };
    (keys.iter().map(view).collect(), arena)
}

/// The string that a view of a table stands for.
fn string_of(view: u128, arena: &Arena) -> Vec<u8> {
    let len = view_len(view);
    if len > INLINE_LEN {
        return arena.get(view).to_vec();
    }
    view.to_le_bytes()[4..4 + len].to_vec()
}

impl<H: HashBytes> Table for BytesTable<H> {
    type Key = Vec<u8>;

    fn key(number: u64) -> Vec<u8> {
        string(number)
    }

    fn intern(&mut self, keys: &[Vec<u8>]) -> Vec<u32> {
        let (views, arena) = views(keys);
        let (views, buffers) = (&views[..], arena.buffers());
        let mut groups = Vec::new();
        self.intern(&Views { views, buffers }, &mut groups).unwrap();
        groups
    }

    fn find(&self, keys: &[Vec<u8>]) -> Vec<u32> {
        let (views, arena) = views(keys);
        let (views, buffers) = (&views[..], arena.buffers());
        let mut groups = Vec::new();
        self.find(&Views { views, buffers }, &mut groups);
        groups
    }

    fn add_unkeyed(&mut self) -> u32 {
        self.add_unkeyed().unwrap()
    }

    fn keys(&self) -> Vec<Vec<u8>> {
        let views = self.keys().iter();
        views.map(|view| string_of(*view, self.arena())).collect()
    }

    fn clear(&mut self) -> bool {
        self.clear();
        true
    }
}

/// A table that gets the hashes of its rows, and the long strings of each batch in buffers of their own.
struct Kept<H>(KeptBytesTable<Arc<[u8]>>, PhantomData<H>);

impl<H: HashBytes> Kept<H> {
    fn rows(keys: &[Vec<u8>]) -> (Vec<u128>, Vec<Arc<[u8]>>, Vec<u64>) {
        let (views, arena) = views(keys);
        let buffers = arena.buffers().iter().map(|b| Arc::from(b.as_slice()));
        let buffers: Vec<Arc<[u8]>> = buffers.collect();
        let rows = Views {
            views: &views,
            buffers: &buffers,
        };
        let hash = |view: &u128| BytesTable::<H>::hash(&rows, *view);
        let hashes = views.iter().map(hash).collect();
        (views, buffers, hashes)
    }
}

impl<H: HashBytes> Table for Kept<H> {
    type Key = Vec<u8>;

    fn key(number: u64) -> Vec<u8> {
        string(number)
    }

    fn intern(&mut self, keys: &[Vec<u8>]) -> Vec<u32> {
        let (views, buffers, hashes) = Self::rows(keys);
        let (views, buffers) = (&views[..], &buffers[..]);
        let mut groups = Vec::new();
        let rows = Views { views, buffers };
        self.0.intern_hashed(&rows, &hashes, &mut groups).unwrap();
        groups
    }

    fn find(&self, keys: &[Vec<u8>]) -> Vec<u32> {
        let (views, buffers, hashes) = Self::rows(keys);
        let (views, buffers) = (&views[..], &buffers[..]);
        let mut groups = Vec::new();
        self.0
            .find_hashed(&Views { views, buffers }, &hashes, &mut groups);
        groups
    }

    fn add_unkeyed(&mut self) -> u32 {
        self.0.add_unkeyed().unwrap()
    }

    fn keys(&self) -> Vec<Vec<u8>> {
        let middle = self.0.keys().len() / 2;
        let pieces = [0..middle, middle..self.0.keys().len()];
        let copied = pieces.map(|groups| {
            let (views, arena) = self.0.copied(groups);
            let strings = views.iter().map(|view| string_of(*view, &arena));
            strings.collect::<Vec<_>>()
        });
        copied.concat()
    }

    fn clear(&mut self) -> bool {
        self.0.clear();
        true
    }
}

impl<H: HashBytes + Clone> Table for TwoLevelBytesTable<H> {
    type Key = Vec<u8>;

    fn key(number: u64) -> Vec<u8> {
        string(number)
    }

    fn intern(&mut self, keys: &[Vec<u8>]) -> Vec<u32> {
        let (views, arena) = views(keys);
        let (views, buffers) = (&views[..], arena.buffers());
        let mut groups = Vec::new();
        self.intern(&Views { views, buffers }, &mut groups).unwrap();
        groups
    }

    fn find(&self, keys: &[Vec<u8>]) -> Vec<u32> {
        let (views, arena) = views(keys);
        let (views, buffers) = (&views[..], arena.buffers());
        let mut groups = Vec::new();
        self.find(&Views { views, buffers }, &mut groups);
        groups
    }

    fn add_unkeyed(&mut self) -> u32 {
        self.add_unkeyed().unwrap()
    }

    fn keys(&self) -> Vec<Vec<u8>> {
        let mut copy = self.clone();
        let arena = copy.take_arena();
        let views = self.keys().iter();
        views.map(|view| string_of(*view, &arena)).collect()
    }

    fn partitions(&self, unkeyed: Option<u32>) -> Option<Partitions> {
        Some(self.partitions(unkeyed))
    }
}

fn check_words<W: Word, H: HashWord<W>>(operations: &[Operation]) {
    check(WordTable::<W, H>::default(), operations);
    for bits in [0, 3, 8] {
        check(TwoLevelWordTable::<W, H>::new(bits), operations);
    }
}

fn check_bytes<H: HashBytes + Clone>(operations: &[Operation]) {
    check(BytesTable::<H>::default(), operations);
    check(
        Kept::<H>(KeptBytesTable::default(), PhantomData),
        operations,
    );
    for bits in [0, 3, 8] {
        check(TwoLevelBytesTable::<H>::new(bits), operations);
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(40))]

    #[test]
    fn every_table_does_as_a_hash_map(operations in operations()) {
        check(DirectTable::<u32>::new(DIRECT_BITS), &operations);
        check_words::<u32, Fold>(&operations);
        check_words::<u64, Fold>(&operations);
        check_words::<u128, Fold>(&operations);
        check_words::<Word256, Fold>(&operations);
        check_bytes::<Fold>(&operations);
    }

    #[test]
    fn and_also_if_all_hashes_are_the_same(operations in operations()) {
        check_words::<u32, Zero>(&operations);
        check_words::<u64, Zero>(&operations);
        check_words::<u128, Zero>(&operations);
        check_words::<Word256, Zero>(&operations);
        check_bytes::<Zero>(&operations);
    }
}
