//! Chooses the chain of each block of a column by its size and by the time that decoding takes.
//!
//! A block costs what reading it costs and what decoding it costs:
//!
//! ```text
//! cost = payload bytes * ns for a stored byte + measured ns of decoding
//! ```
//!
//! 1. Every chain that may be good is tried on a whole block: it is encoded, decoded and timed. What
//!    does not take a tenth less than plain is not considered. The least cost wins.
//! 2. The winner encodes the next blocks: 1, then 2, then 4, up to [`MAX_INTERVAL`]; then all are tried
//!    again. If a block's size departs by a quarter from what the winner made before, and by a fiftieth of the
//!    plain size, at once; so if it has several times as many values.
//! 3. Which packings are tried follows from their estimated sizes: the best [`NUM_PACKINGS`].
//!
//! Decisions differ from run to run where two chains are equally good. What is decoded does not.

use std::time::Instant;

use crate::chain::{Chain, Encoded};
use crate::compression::{Compression, Decompressor};
use crate::element::{Element, Kind, WordVisitor};
use crate::encoding::{Packing, Transform, constant};
use crate::padded::PaddedBuffer;
use crate::word::{Word, with_words};

/// Most blocks that go by the same chain before all are tried again.
const MAX_INTERVAL: u32 = 64;

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

/// How far the size of a block may depart from that of the last trial, as a factor.
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
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            stored_byte_ns: 1.0,
            least_saving: 0.1,
            strong: Some(Compression::Zstd(1)),
        }
    }
}

impl Policy {
    /// For what is written once and kept: a byte costs as on a disk that reads 170 MB/s.
    pub fn thorough() -> Self {
        Self {
            stored_byte_ns: 6.0,
            strong: Some(Compression::Zstd(3)),
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
    /// Payload bytes for a byte of the values.
    ratio: f64,
    /// Bytes of the values that were tried.
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

    /// What the trials so far have found. That nothing helps is not handed on: a plain block never tells that
    /// something would help by now.
    pub(crate) fn learned(&self) -> Option<Learned> {
        let helps = |chosen: &Chosen| chosen.chain != Chain::PLAIN;
        self.chosen.filter(helps).map(Learned)
    }

    /// Goes on as if the trials of another had been its own.
    pub(crate) fn go_on_with(&mut self, learned: Learned) {
        self.chosen = Some(learned.0);
    }

    /// Appends the encoded `values` to `out`.
    pub(crate) fn encode(&mut self, values: &[u8], element: Element, out: &mut Vec<u8>) -> Encoded {
        let start = out.len();
        // Few values tell little of many.
        let holds = |chosen: &&mut Chosen| {
            chosen.blocks_left > 0 && values.len() / GROWTH_FACTOR <= chosen.tried_bytes
        };
        if let Some(chosen) = self.chosen.as_mut().filter(holds) {
            chosen.blocks_left -= 1;
            let encoded = chosen.chain.encode(values, element, out);
            let ratio = (out.len() - start) as f64 / values.len().max(1) as f64;
            let (less, more) = (ratio.min(chosen.ratio), ratio.max(chosen.ratio));
            // Of blocks that are small in any case, sizes tell nothing.
            let has_changed = more > less * CHANGE_FACTOR && more - less > LEAST_CHANGE;
            if !has_changed {
                return encoded;
            }
            out.truncate(start);
            chosen.interval = 1;
        }
        let (chain, payload_bytes) = self.best(values, element);
        let interval = self.chosen.map_or(1, |chosen| {
            let is_same = chosen.chain == chain;
            if is_same {
                (chosen.interval * 2).min(MAX_INTERVAL)
            } else {
                1
            }
        });
        self.chosen = Some(Chosen {
            chain,
            ratio: payload_bytes as f64 / values.len().max(1) as f64,
            tried_bytes: values.len(),
            interval,
            blocks_left: interval,
        });
        chain.encode(values, element, out)
    }

    /// Tries all candidates on a block; the best one and its payload's size.
    fn best(&mut self, values: &[u8], element: Element) -> (Chain, usize) {
        let most = values.len() as f64 * (1.0 - self.policy.least_saving);
        let plain_cost = values.len() as f64 * self.policy.stored_byte_ns;
        let mut best = (plain_cost, Chain::PLAIN, values.len());
        let mut payload = Vec::new();
        for candidate in self.candidates(values, element) {
            payload.clear();
            let encoded = candidate.encode(values, element, &mut payload);
            if payload.len() as f64 > most || encoded.chain == Chain::PLAIN {
                continue;
            }
            let stored_ns = payload.len() as f64 * self.policy.stored_byte_ns;
            if stored_ns >= best.0 {
                continue;
            }
            let shape = (element, encoded.encoded_bytes);
            self.decoded.reset(values.len());
            let Some(decode_ns) = self.decode_ns(encoded.chain, shape, &payload) else {
                continue;
            };
            if stored_ns + decode_ns < best.0 {
                // The candidate, not what was left of it: its compression may help the next block.
                best = (stored_ns + decode_ns, candidate, payload.len());
            }
        }
        (best.1, best.2)
    }

    /// Nanoseconds that decoding takes.
    fn decode_ns(&mut self, chain: Chain, shape: (Element, usize), payload: &[u8]) -> Option<f64> {
        let mut least = None;
        for _ in 0..NUM_RUNS {
            let memory = (&mut self.decompressor, &mut self.scratch);
            let started = Instant::now();
            chain
                .decode(payload, shape, memory, &mut self.decoded)
                .ok()?;
            let elapsed_ns = started.elapsed().as_secs_f64() * 1e9;
            least = Some(least.map_or(elapsed_ns, |least: f64| least.min(elapsed_ns)));
        }
        least
    }

    /// The chains that are tried, those first that are likely to win.
    fn candidates(&self, values: &[u8], element: Element) -> Vec<Chain> {
        let mut candidates = Vec::new();
        if constant::is_constant(values, element.width_bytes()) {
            return vec![Chain::packed(Packing::Constant, Compression::None)];
        }
        let compressions = [Some(Compression::Lz4), self.policy.strong]
            .into_iter()
            .flatten();
        let packed = element
            .visit(Estimate { values, element })
            .unwrap_or_default();
        for chain in packed {
            candidates.push(chain);
            candidates.extend(compressions.clone().map(|compression| Chain {
                compression,
                ..chain
            }));
        }
        candidates.extend(compressions.map(Chain::compressed));
        candidates
    }
}

/// Finds the packings that make values smallest, by their estimates.
struct Estimate<'a> {
    values: &'a [u8],
    element: Element,
}

impl WordVisitor for Estimate<'_> {
    type Output = Vec<Chain>;

    fn visit<T: Word>(self) -> Vec<Chain> {
        with_words(self.values, |words: &[T]| self.best_packings(words))
    }
}

impl Estimate<'_> {
    fn best_packings<T: Word>(&self, words: &[T]) -> Vec<Chain> {
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
        estimates.into_iter().map(|(_, chain)| chain).collect()
    }
}
