//! A set of 32-bit hashes that keeps a known share of them when it gets too large (Bar-Yossef
//! et al.): of `2^degree` hashes those whose low `degree` bits are zero.

use basalt_error::Result;

use crate::aggregate::grouped::{ByteReader, damaged};

/// Most hashes that are kept.
const MAX_LEN: usize = 1 << 16;

/// Up to here the hashes are an unordered list.
const LIST_LEN: usize = 8;

/// The hashes of a group.
#[derive(Debug, Default)]
pub(super) struct SampledSet {
    /// A list of up to `LIST_LEN` hashes, or an open-addressed table where 0 is a free cell.
    cells: Vec<u32>,
    /// Number of hashes, with that of zero.
    len: usize,
    has_zero: bool,
    /// How many low bits of a hash must be zero.
    degree: u8,
}

impl SampledSet {
    #[inline]
    fn keeps(&self, hash: u32) -> bool {
        hash.trailing_zeros() >= u32::from(self.degree)
    }

    /// Adds a value by its hash.
    #[inline]
    pub(super) fn insert_hash(&mut self, hash: u32) {
        if !self.keeps(hash) {
            return;
        }
        if hash == 0 {
            self.len += usize::from(!self.has_zero);
            self.has_zero = true;
            return;
        }
        if self.is_list() {
            if self.cells.contains(&hash) {
                return;
            }
            self.cells.push(hash);
            self.len += 1;
            if self.cells.len() > LIST_LEN {
                self.rebuild(LIST_LEN * 4);
            }
            return;
        }
        let cell = self.find(hash);
        if self.cells[cell] == hash {
            return;
        }
        self.cells[cell] = hash;
        self.len += 1;
        if self.len > MAX_LEN {
            while self.len > MAX_LEN {
                self.degree += 1;
                self.rebuild(self.cells.len());
            }
        } else if self.len * 2 > self.cells.len() {
            self.rebuild(self.cells.len() * 2);
        }
    }

    fn is_list(&self) -> bool {
        self.cells.len() <= LIST_LEN
    }

    /// The cell of a hash, or the free one where it belongs.
    fn find(&self, hash: u32) -> usize {
        let mask = self.cells.len() - 1;
        let mut cell = (hash >> 15) as usize & mask;
        while self.cells[cell] != 0 && self.cells[cell] != hash {
            cell = (cell + 1) & mask;
        }
        cell
    }

    /// Moves the hashes that are still kept to a table of `capacity` cells, a power of two.
    fn rebuild(&mut self, capacity: usize) {
        let old = std::mem::replace(&mut self.cells, vec![0; capacity]);
        self.len = usize::from(self.has_zero);
        for hash in old {
            if hash != 0 && self.keeps(hash) {
                let cell = self.find(hash);
                self.cells[cell] = hash;
                self.len += 1;
            }
        }
    }

    fn hashes(&self) -> impl Iterator<Item = u32> {
        let zero = self.has_zero.then_some(0);
        zero.into_iter()
            .chain(self.cells.iter().copied().filter(|h| *h != 0))
    }

    /// Adds the hashes of another set.
    pub(super) fn merge(&mut self, other: &SampledSet) {
        if other.degree > self.degree {
            self.degree = other.degree;
            if self.is_list() {
                let degree = u32::from(self.degree);
                self.cells.retain(|h| h.trailing_zeros() >= degree);
                self.len = self.cells.len() + usize::from(self.has_zero);
            } else {
                self.rebuild(self.cells.len());
            }
        }
        for hash in other.hashes() {
            self.insert_hash(hash);
        }
    }

    /// The estimated number of distinct values.
    pub(super) fn estimate(&self) -> u64 {
        let len = self.len as u64;
        if self.degree == 0 {
            return len;
        }
        let scale = 1u64 << self.degree;
        // Pseudo-random low bits instead of zeros.
        let total = len * scale + (u64::from(crc32c(len)) & (scale - 1));
        // Values whose 32-bit hashes are equal were counted once.
        let range = (1u64 << 32) as f64;
        let free = range - total as f64;
        if free <= 0.0 {
            return total;
        }
        (range * (range.ln() - free.ln())).round() as u64
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<u32>()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.degree);
        out.extend_from_slice(&(self.len as u64).to_le_bytes());
        for hash in self.hashes() {
            out.extend_from_slice(&hash.to_le_bytes());
        }
    }

    pub(super) fn read(bytes: &mut ByteReader<'_>) -> Result<Self> {
        let degree = bytes.u8()?;
        if degree > 32 {
            return Err(damaged());
        }
        let mut set = SampledSet {
            degree,
            ..SampledSet::default()
        };
        for _ in 0..bytes.len(size_of::<u32>())? {
            set.insert_hash(bytes.u32()?);
        }
        Ok(set)
    }
}

/// CRC-32C of eight bytes, without the usual inversion at the end.
fn crc32c(value: u64) -> u32 {
    let mut crc = u32::MAX;
    for byte in value.to_le_bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82F6_3B78 & (crc & 1).wrapping_neg());
        }
    }
    crc
}
