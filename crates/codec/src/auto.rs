//! Chooses the chain of each block of a column by its size and by the time that decoding takes.
//!
//! A block costs what reading it costs and what decoding it costs:
//!
//! ```text
//! cost = payload bytes * ns for a stored byte + measured ns of decoding
//! ```
//!
//! 1. Every chain that may be good is tried on a whole block, or on a part of it if the policy has no time: it is
//!    encoded, decoded and timed. What does not take a tenth less than plain is not considered. The least cost wins.
//!    Where LZ4 finds no repeats, a sample shows whether a stronger compression is worth a trial.
//! 2. The winner encodes the next blocks: 1, then 2, then 4, up to [`MAX_INTERVAL`], or [`MAX_PLAIN_INTERVAL`]
//!    if that is to store them plain; then all are tried again. If a block's size departs by a quarter from all
//!    sizes with which it has won, and by a fiftieth of the plain size, at once; so if it has several times as many
//!    values, or if a sample of what is stored plain could shrink by a quarter more than one did at the trial.
//! 3. Which packings are tried follows from their estimated sizes: the best [`NUM_PACKINGS`]. Large blocks are
//!    compressed only if half of the size that a sample foretells could win with the fastest decoding there is.
//!
//! Decisions differ from run to run where two chains are equally good. What is decoded does not.

use std::borrow::Cow;
use std::time::Instant;

use crate::chain::{Chain, Encoded};
use crate::compression::{Compression, Decompressor};
use crate::element::{Element, Kind, WordVisitor};
use crate::encoding::{Packing, Transform, constant};
use crate::padded::PaddedBuffer;
use crate::word::{Word, with_words};

/// Most blocks that go by the same chain before all are tried again.
const MAX_INTERVAL: u32 = 64;

/// Most blocks that are stored plain in a row: what would help by now shows in samples only as far as they go.
const MAX_PLAIN_INTERVAL: u32 = 16;

/// Packings whose sizes are estimated.
const PACKINGS: [Packing; 4] = [
    Packing::Dictionary,
    Packing::RunLength,
    Packing::FrameOfReference,
    Packing::Decimal,
];

/// How many of the packings are tried.
const NUM_PACKINGS: usize = 3;

/// Times that a block is decoded for a measurement, of which the fastest counts.
const NUM_RUNS: usize = 3;

/// A chain is measured no more when the faster of two decodings took so many times what would make it the best.
const HOPELESS_FACTOR: f64 = 2.0;

/// Bytes by which it is seen whether a strong compression helps where LZ4 finds no repeats.
const SAMPLE_BYTES: usize = 1 << 14;

/// Bytes by which it is seen, at each block that is stored plain, whether something would help by now.
const PLAIN_SAMPLE_BYTES: usize = 1 << 12;

/// Bytes of a block from which on a sample comes before its compression.
const MANY_BYTES: usize = 4 * SAMPLE_BYTES;

/// What a sample may miss of what all bytes can be compressed to, as a factor: repeats may be far from each other.
const SAMPLE_FACTOR: f64 = 2.0;

/// How far the size of a block may depart from those of the trials that its chain has won, as a factor.
const CHANGE_FACTOR: f64 = 1.25;

/// What a change of a block's size must be at least, as a part of the plain size.
const LEAST_CHANGE: f64 = 0.02;

/// How many times as many bytes as were tried a block may have.
const GROWTH_FACTOR: usize = 4;

/// What is weighed against what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// What a byte on disk costs each time it is read, in nanoseconds: 1 stands for 1 GB/s.
    pub stored_byte_ns: f64,
    /// What must be saved for anything but plain, as a part of the plain size.
    pub least_saving: f64,
    /// The compression that is tried beside LZ4.
    pub strong: Option<Compression>,
    /// Bytes of a block that chains are tried on at most.
    pub trial_bytes: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            stored_byte_ns: 1.0,
            least_saving: 0.1,
            strong: Some(Compression::Zstd(1)),
            trial_bytes: 1 << 17,
        }
    }
}

impl Policy {
    /// For what is written once and kept: a byte costs as on a disk that reads 85 MB/s. With twice that speed, slower
    /// processors would keep texts a third larger than others do.
    pub fn thorough() -> Self {
        Self {
            stored_byte_ns: 12.0,
            strong: Some(Compression::Zstd(3)),
            trial_bytes: usize::MAX,
            ..Self::default()
        }
    }
}

/// Chooses for the blocks of one column.
#[derive(Debug, Default)]
pub struct Auto {
    policy: Policy,
    chosen: Option<Chosen>,
    decompressor: Decompressor,
    scratch: PaddedBuffer,
    decoded: PaddedBuffer,
}

/// What trials have found, for another encoder of such values to go on with.
#[derive(Clone, Copy, Debug)]
pub struct Learned(Chosen);

/// What won the last trial.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    chain: Chain,
    /// Payload bytes for a byte of the values: the least and the most with which it has won.
    ratios: (f64, f64),
    /// What a sample could shrink to, if blocks are stored plain.
    plain_ratio: Option<f64>,
    /// Bytes of the block that was tried, or a part of it.
    tried_bytes: usize,
    interval: u32,
    blocks_left: u32,
}

impl Auto {
    /// Chooses by `policy`.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// What the trials so far have found.
    pub(crate) fn learned(&self) -> Option<Learned> {
        self.chosen.map(Learned)
    }

    /// Goes on as if the trials of another had been its own.
    pub(crate) fn go_on_with(&mut self, learned: Learned) {
        self.chosen = Some(learned.0);
    }

    /// Appends the encoded `values` to `out`.
    pub(crate) fn encode(&mut self, values: &[u8], element: Element, out: &mut Vec<u8>) -> Encoded {
        let start = out.len();
        let strong = self.policy.strong;
        // Few values tell little of many.
        let holds = |chosen: &&mut Chosen| {
            chosen.blocks_left > 0
                && values.len() / GROWTH_FACTOR <= chosen.tried_bytes
                && chosen.plain_ratio.is_none_or(|ratio| {
                    // The size of plain blocks never tells that something would help by now.
                    sample_ratio(values, element, strong) * CHANGE_FACTOR >= ratio
                })
        };
        if let Some(chosen) = self.chosen.as_mut().filter(holds) {
            chosen.blocks_left -= 1;
            let encoded = chosen.chain.encode(values, element, out);
            let ratio = (out.len() - start) as f64 / values.len().max(1) as f64;
            // Of blocks that are small in any case, sizes tell nothing.
            let is_much =
                |less: f64, more: f64| more > less * CHANGE_FACTOR && more - less > LEAST_CHANGE;
            let (least, most) = chosen.ratios;
            if !is_much(ratio, least) && !is_much(most, ratio) {
                return encoded;
            }
            out.truncate(start);
            chosen.interval = 1;
        }
        let (chain, encoded) = self.encode_by_trial(values, element, out);
        let again = self.chosen.filter(|chosen| chosen.chain == chain);
        let most = match chain {
            Chain::PLAIN => MAX_PLAIN_INTERVAL,
            _ => MAX_INTERVAL,
        };
        let interval = again.map_or(1, |chosen| (chosen.interval * 2).min(most));
        let ratio = (out.len() - start) as f64 / values.len().max(1) as f64;
        self.chosen = Some(Chosen {
            chain,
            ratios: again.map_or((ratio, ratio), |chosen| {
                let (least, most) = chosen.ratios;
                (least.min(ratio), most.max(ratio))
            }),
            plain_ratio: (chain == Chain::PLAIN).then(|| sample_ratio(values, element, strong)),
            tried_bytes: values.len(),
            interval,
            blocks_left: interval,
        });
        encoded
    }

    /// Appends the values by the chain that is the best for them, or for a part of them if that holds for all.
    fn encode_by_trial(
        &mut self,
        values: &[u8],
        element: Element,
        out: &mut Vec<u8>,
    ) -> (Chain, Encoded) {
        let start = out.len();
        let tried = sample(values, element.width_bytes(), self.policy.trial_bytes);
        let chain = self.best(&tried, element);
        let encoded = chain.encode(values, element, out);
        let most = values.len() as f64 * (1.0 - self.policy.least_saving);
        let is_as_tried =
            encoded.chain == chain && (chain == Chain::PLAIN || (out.len() - start) as f64 <= most);
        if is_as_tried || tried.len() == values.len() {
            return (chain, encoded);
        }
        out.truncate(start);
        let chain = self.best(values, element);
        (chain, chain.encode(values, element, out))
    }

    /// Tries all candidates on some values; the best one.
    fn best(&mut self, values: &[u8], element: Element) -> Chain {
        let mut best = Best {
            chain: Chain::PLAIN,
            cost: values.len() as f64 * self.policy.stored_byte_ns,
        };
        self.decoded.reset(values.len());
        let (mut packed, mut compressed) = (Vec::new(), Vec::new());
        for chain in packings(values, element) {
            packed.clear();
            let encoded = chain.encode(values, element, &mut packed);
            if encoded.chain != chain {
                // The steps do not help; compressed, it would be what plain values are.
                continue;
            }
            let shape = (element, encoded.encoded_bytes);
            let unpack_ns = self.weigh(chain, shape, &packed, &mut best);
            let mut has_repeats = false;
            let strong = self.policy.strong;
            for compression in [Some(Compression::Lz4), strong].into_iter().flatten() {
                let is_quick = compression == Compression::Lz4;
                if !is_quick && !has_repeats && !shrinks_sample(compression, &packed) {
                    continue;
                }
                if unpack_ns + self.least_ns(compression, &packed) >= best.cost {
                    continue;
                }
                compressed.clear();
                if compression.compress(&packed, &mut compressed) {
                    has_repeats |= is_much_less(compressed.len(), packed.len());
                    let chain = Chain {
                        compression,
                        ..chain
                    };
                    self.weigh(chain, shape, &compressed, &mut best);
                }
            }
        }
        best.chain
    }

    /// What bytes cost at least once they are compressed, without the steps before.
    fn least_ns(&self, compression: Compression, bytes: &[u8]) -> f64 {
        let stored_bytes = match bytes.len() {
            0..MANY_BYTES => 0.0,
            len => {
                len as f64 * compressed_ratio(compression, &sample(bytes, 1, SAMPLE_BYTES))
                    / SAMPLE_FACTOR
            }
        };
        let decode_ns = bytes.len() as f64 * compression.least_decode_ns();
        stored_bytes * self.policy.stored_byte_ns + decode_ns
    }

    /// Makes a chain the best if what it made of the values costs less. The nanoseconds that its decoding takes, 0 if
    /// nobody measured.
    fn weigh(
        &mut self,
        chain: Chain,
        shape: (Element, usize),
        payload: &[u8],
        best: &mut Best,
    ) -> f64 {
        let most = self.decoded.len() as f64 * (1.0 - self.policy.least_saving);
        let stored_ns = payload.len() as f64 * self.policy.stored_byte_ns;
        if chain == Chain::PLAIN || payload.len() as f64 > most || stored_ns >= best.cost {
            return 0.0;
        }
        let decode_ns = self.decode_ns(chain, shape, (payload, best.cost - stored_ns));
        if stored_ns + decode_ns < best.cost {
            *best = Best {
                chain,
                cost: stored_ns + decode_ns,
            };
        }
        decode_ns
    }

    /// Nanoseconds that decoding takes, by few measurements if that is far more than `most_ns`; infinite if it fails.
    fn decode_ns(
        &mut self,
        chain: Chain,
        shape: (Element, usize),
        (payload, most_ns): (&[u8], f64),
    ) -> f64 {
        let mut least = f64::INFINITY;
        for run in 0..NUM_RUNS {
            let memory = (&mut self.decompressor, &mut self.scratch);
            let started = Instant::now();
            if chain
                .decode(payload, shape, memory, &mut self.decoded)
                .is_err()
            {
                return f64::INFINITY;
            }
            least = least.min(started.elapsed().as_secs_f64() * 1e9);
            // The first time, memory may be new.
            if run > 0 && least > most_ns * HOPELESS_FACTOR {
                break;
            }
        }
        least
    }
}

/// The chain that costs least so far.
struct Best {
    chain: Chain,
    cost: f64,
}

/// Whether a compression makes less of some of the bytes.
fn shrinks_sample(compression: Compression, bytes: &[u8]) -> bool {
    let sample = sample(bytes, 1, SAMPLE_BYTES);
    let mut compressed = Vec::new();
    compression.compress(&sample, &mut compressed) && is_much_less(compressed.len(), sample.len())
}

/// Some values from the beginning, the middle and the end, of so many bytes at most.
fn sample(values: &[u8], width: usize, num_bytes: usize) -> Cow<'_, [u8]> {
    let num_values = values.len() / width;
    let len = num_bytes / 3 / width;
    if num_values <= 3 * len {
        return Cow::Borrowed(values);
    }
    let starts = [0, (num_values - len) / 2, num_values - len];
    let pieces = starts.map(|start| &values[start * width..(start + len) * width]);
    Cow::Owned(pieces.concat())
}

/// About what part of its size some of the values can be stored in.
fn sample_ratio(values: &[u8], element: Element, strong: Option<Compression>) -> f64 {
    let sample = sample(values, element.width_bytes(), PLAIN_SAMPLE_BYTES);
    let packed = element.visit(Estimate {
        values: &sample,
        element,
    });
    let packed = packed.unwrap_or_default();
    let least = packed.first().map_or(sample.len(), |(bytes, _)| *bytes);
    let compressions = [Some(Compression::Lz4), strong].into_iter().flatten();
    let ratios = compressions.map(|compression| compressed_ratio(compression, &sample));
    ratios.fold(least as f64 / sample.len().max(1) as f64, f64::min)
}

/// What part of its size a compression makes of some bytes; 1 if it does not help.
fn compressed_ratio(compression: Compression, bytes: &[u8]) -> f64 {
    let mut compressed = Vec::new();
    match compression.compress(bytes, &mut compressed) {
        true => compressed.len() as f64 / bytes.len().max(1) as f64,
        false => 1.0,
    }
}

/// Whether a compression that saves so much is worth a look.
fn is_much_less(less: usize, more: usize) -> bool {
    less < more - more / 32
}

/// The steps before compression that are tried, those first that are likely to win; at last none.
fn packings(values: &[u8], element: Element) -> Vec<Chain> {
    if constant::is_constant(values, element.width_bytes()) {
        return vec![Chain::packed(Packing::Constant, Compression::None)];
    }
    let packed = element.visit(Estimate { values, element });
    let packed = packed.unwrap_or_default().into_iter();
    let mut packings: Vec<_> = packed.map(|(_, chain)| chain).collect();
    packings.push(Chain::PLAIN);
    packings
}

/// Finds the packings that make values smallest, by their estimates.
struct Estimate<'a> {
    values: &'a [u8],
    element: Element,
}

impl WordVisitor for Estimate<'_> {
    /// The packings and about the bytes that they make of the values, the least first.
    type Output = Vec<(usize, Chain)>;

    fn visit<T: Word>(self) -> Self::Output {
        with_words(self.values, |words: &[T]| self.best_packings(words))
    }
}

impl Estimate<'_> {
    fn best_packings<T: Word>(&self, words: &[T]) -> Vec<(usize, Chain)> {
        let mut estimates = Vec::new();
        let fitting = PACKINGS
            .into_iter()
            .filter(|packing| packing.fits(self.element));
        for packing in fitting {
            let chain = Chain::packed(packing, Compression::None);
            estimates.extend(packing.estimated_bytes(words).map(|bytes| (bytes, chain)));
        }
        if self.element.kind() != Kind::Float {
            let mut words = words.to_vec();
            for transform in Transform::ALL {
                // The second distances are the distances of the first.
                Transform::Delta.apply(&mut words, &mut Vec::new());
                let chain = Chain {
                    transform: Some(transform),
                    ..Chain::packed(Packing::FrameOfReference, Compression::None)
                };
                let bytes = Packing::FrameOfReference.estimated_bytes(&words);
                estimates.extend(bytes.map(|bytes| (bytes, chain)));
            }
        }
        estimates.retain(|(bytes, _)| *bytes < self.values.len());
        estimates.sort_by_key(|(bytes, _)| *bytes);
        estimates.truncate(NUM_PACKINGS);
        estimates
    }
}
