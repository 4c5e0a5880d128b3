//! Long keys that stay where the rows have them, in buffers that are kept.

use std::ops::Deref;

use crate::views::{AddLong, LongKeys, Views, place};

/// A buffer of the rows at hand that is not kept.
const NOT_KEPT: u32 = u32::MAX;

/// Long strings in the buffers that rows had.
#[derive(Clone, Debug)]
pub(crate) struct KeptStrings<B> {
    buffers: Vec<B>,
    /// Where each buffer of the rows at hand stands in `buffers`.
    numbers: Vec<u32>,
}

impl<B> Default for KeptStrings<B> {
    fn default() -> Self {
        Self {
            buffers: Vec::new(),
            numbers: Vec::new(),
        }
    }
}

impl<B> KeptStrings<B> {
    /// The strings that are added from now on lie in so many other buffers.
    pub(crate) fn begin(&mut self, num_buffers: usize) {
        self.numbers.clear();
        self.numbers.resize(num_buffers, NOT_KEPT);
    }
}

impl<B: Deref<Target = [u8]>> LongKeys for KeptStrings<B> {
    #[inline]
    fn get(&self, view: u128) -> &[u8] {
        let (buffer, range) = place(view);
        &self.buffers[buffer][range]
    }

    /// The buffers are the rows', who count them.
    fn size_bytes(&self) -> usize {
        self.buffers.capacity() * size_of::<B>() + self.numbers.capacity() * size_of::<u32>()
    }
}

impl<B: Deref<Target = [u8]> + Clone> AddLong<B> for KeptStrings<B> {
    #[inline]
    fn add(&mut self, rows: &Views<'_, B>, view: u128) -> u128 {
        let (buffer, _) = place(view);
        let number = &mut self.numbers[buffer];
        if *number == NOT_KEPT {
            // There are fewer than 2^32 keys, and as many buffers at most.
            *number = self.buffers.len() as u32;
            self.buffers.push(rows.buffers[buffer].clone());
        }
        const BUFFER: u128 = (u32::MAX as u128) << 64;
        view & !BUFFER | u128::from(*number) << 64
    }
}
