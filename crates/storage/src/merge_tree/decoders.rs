//! Keeps what was learnt about the blocks of a column from one group of rows to the next.
//!
//! A decoder measures which form decompresses its column fastest, over more blocks than a group has. So whoever reads a
//! group borrows decoders from its table and gives them back; who reads at the same time has decoders of its own.

use std::sync::Arc;

use basalt_codec::{BlockDecoder, lz4};
use parking_lot::Mutex;

/// What a form of decompression did for the blocks of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FormUse {
    /// How often it was taken.
    pub pulls: u64,
    /// Nanoseconds that a byte took, if that was measured.
    pub mean_ns: Option<f64>,
    /// How many decoders take it for the fastest.
    pub num_preferring: usize,
}

/// Sets of decoders that are kept for a column: so many threads find one each.
const MAX_KEPT: usize = 64;

/// Decoders of a column's blocks: one for the lengths of strings, one for their bytes, and so on.
type OfBlocks = Vec<BlockDecoder>;

/// The decoders of a table's columns that nobody uses just now.
#[derive(Clone, Debug)]
pub(super) struct Decoders(Arc<[Mutex<Vec<OfBlocks>>]>);

impl Decoders {
    pub(super) fn new(num_columns: usize) -> Self {
        Self((0..num_columns).map(|_| Mutex::default()).collect())
    }

    /// Those that a column was read with last, or none yet.
    pub(super) fn borrow(&self, column: usize) -> OfBlocks {
        self.0[column].lock().pop().unwrap_or_default()
    }

    /// What each of [`lz4::FORMS`] did for a column, by the decoders that nobody uses just now.
    pub(super) fn lz4_forms(&self, column: usize) -> Vec<FormUse> {
        let kept = self.0[column].lock();
        let decoders = kept.iter().flatten().filter_map(BlockDecoder::lz4);
        let mut forms = vec![FormUse::default(); lz4::FORMS.len()];
        for decoder in decoders {
            for (form, known) in forms.iter_mut().enumerate() {
                known.num_preferring += usize::from(decoder.best().name == lz4::FORMS[form].name);
                let pulls = decoder.pulls(form);
                known.pulls += pulls;
                known.mean_ns = match (known.mean_ns, decoder.mean_ns(form)) {
                    (Some(a), Some(b)) => {
                        let part = pulls as f64 / known.pulls.max(1) as f64;
                        Some(a + (b - a) * part)
                    }
                    (a, b) => a.or(b),
                };
            }
        }
        forms
    }

    /// Keeps decoders for whoever reads the column next, without the memory that they worked in.
    pub(super) fn give_back(&self, column: usize, mut decoders: OfBlocks) {
        decoders.iter_mut().for_each(BlockDecoder::rest);
        let mut kept = self.0[column].lock();
        if kept.len() < MAX_KEPT {
            kept.push(decoders);
        }
    }
}

#[cfg(test)]
mod tests {
    use basalt_codec::{
        Block, BlockEncoder, Chain, Codec, Compression, Element, PaddedBuffer, lz4,
    };

    use super::{BlockDecoder, Decoders};

    #[test]
    fn forms_are_measured_over_many_groups() {
        let text = b"words that come again and again, ".repeat(4000);
        let chain = Chain::compressed(Compression::Lz4);
        let mut stored = Vec::new();
        let mut encoder = BlockEncoder::new(Element::BYTES, Codec::Fixed(chain));
        encoder.encode(&text, &mut stored).unwrap();
        let (block, _) = Block::read(&stored).unwrap();
        let decoders = Decoders::new(2);
        let num_measured = |decoder: &BlockDecoder| {
            let is_measured = |form: &usize| decoder.lz4().unwrap().mean_ns(*form).is_some();
            (0..lz4::FORMS.len()).filter(is_measured).count()
        };
        // Two forms at least: how often the fastest goes unmeasured depends on the processor.
        for round in 0.. {
            assert!(
                round < 100_000,
                "every round forgets what the last has learnt"
            );
            let mut borrowed = decoders.borrow(1);
            borrowed.resize_with(1, BlockDecoder::new);
            let mut values = PaddedBuffer::default();
            borrowed[0].decode(&block, &mut values).unwrap();
            assert_eq!(*values, text);
            let is_done = num_measured(&borrowed[0]) > 1;
            decoders.give_back(1, borrowed);
            if is_done {
                break;
            }
        }
        let forms = decoders.lz4_forms(1);
        assert!(forms.iter().map(|form| form.pulls).sum::<u64>() > 4);
        assert!(forms.iter().any(|form| form.mean_ns.is_some()));
        assert_eq!(decoders.lz4_forms(0)[0].pulls, 0);
        assert!(decoders.borrow(0).is_empty());
    }
}
