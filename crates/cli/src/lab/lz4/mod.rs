//! Runs `basalt lab lz4`: every form of LZ4's decompression over the blocks of files.
//!
//! | module | owns |
//! |---|---|
//! | [`report`] | the table, as text and as JSON |

mod report;

use std::path::{Path, PathBuf};

use basalt_adapt::Random;
use basalt_codec::PaddedBuffer;
use basalt_codec::lz4::library::Library;
use basalt_codec::lz4::{Decoder, available, reference};
use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;
use indicatif::ProgressBar;

use crate::lab::contest::{self, Entrant, Standing};
use crate::lab::{forced_level, number};

/// The name of what chooses; forms have other names.
const ADAPTIVE: &str = "adaptive";

/// How the experiment is done.
#[derive(Clone, Copy, Debug)]
struct Setup {
    num_rounds: usize,
    block_bytes: usize,
    least_bytes: usize,
    level: Option<u8>,
    is_json: bool,
}

/// A file that was cut into blocks.
struct Input {
    size_bytes: usize,
    stored_bytes: usize,
    blocks: Vec<Block>,
    /// How often a run goes through the file.
    num_passes: usize,
}

/// A compressed block.
struct Block {
    stored: Vec<u8>,
    size_bytes: usize,
}

/// How the forms did on one file.
struct Outcome {
    name: String,
    size_bytes: usize,
    stored_bytes: usize,
    /// Of the forms: the reference first, the adaptive one last.
    costs: Vec<Cost>,
    /// Of other versions of the C library.
    libraries: Vec<Cost>,
}

#[derive(Clone, Debug)]
struct Cost {
    name: String,
    /// Nanoseconds for a byte.
    byte_ns: f64,
    /// What `adaptive` chose.
    picked: Option<&'static str>,
}

/// Runs the experiment and writes its table.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    forced_level(options)?;
    let setup = Setup {
        num_rounds: number(options, "rounds")?,
        block_bytes: number(options, "block")?,
        least_bytes: number::<usize>(options, "mebibytes")?.saturating_mul(1 << 20),
        level: options
            .get_one::<u64>("hc")
            .and_then(|level| u8::try_from(*level).ok()),
        is_json: options.get_flag("json"),
    };
    let files: Vec<PathBuf> = options
        .get_many("files")
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let libraries = options.get_many("library").into_iter().flatten();
    let libraries: Vec<Library> = libraries
        .map(|path: &PathBuf| library(path))
        .collect::<Result<_>>()?;
    let mut random = Random::new(number::<u64>(options, "seed")?);
    let num_entrants = available().count() + 1 + libraries.len();
    let bar = contest::progress(files.len() * num_entrants * setup.num_rounds);
    let mut outcomes = Vec::new();
    for file in &files {
        outcomes.extend(experiment((&setup, &libraries), file, &mut random, &bar)?);
    }
    bar.finish_and_clear();
    if outcomes.is_empty() {
        let text = "Name files that are not empty: there was nothing to decompress";
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    report::write(&setup, &outcomes)
}

/// Another version of the C library.
fn library(path: &Path) -> Result<Library> {
    Library::open(path).map_err(|why| {
        let text = format!(
            "Name a liblz4 with --library: cannot load {}: {why}",
            path.display()
        );
        Error::new(ErrorCode::BAD_ARGUMENTS, text)
    })
}

/// Lets all forms and libraries compete on a file; `None` if it is empty.
fn experiment(
    (setup, libraries): (&Setup, &[Library]),
    file: &Path,
    random: &mut Random,
    bar: &ProgressBar,
) -> Result<Option<Outcome>> {
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    bar.set_message(name.clone());
    let bytes = std::fs::read(file).map_err(|e| {
        let text = format!("cannot read {}: {e}", file.display());
        Error::new(ErrorCode::FILE_DOESNT_EXIST, text)
    })?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let input = Input::cut(&bytes, setup)?;
    for form in available() {
        input.verify(&bytes, form.name, |block, out| {
            form.decompress(block, out).is_ok()
        })?;
    }
    for library in libraries {
        let decompress = |block: &[u8], out: &mut _| library.decompress(block, out).is_ok();
        input.verify(&bytes, library.version(), decompress)?;
    }
    drop(bytes);
    let entrants = input.entrants(libraries);
    let standings = contest::compete(entrants, setup.num_rounds, random, bar)?;
    let num_bytes = (input.size_bytes * input.num_passes) as f64;
    let cost = |standing: Standing| Cost {
        name: standing.name,
        byte_ns: standing.seconds * 1e9 / num_bytes,
        picked: standing.picked,
    };
    let mut costs: Vec<Cost> = standings.into_iter().map(cost).collect();
    let libraries = costs.split_off(costs.len() - libraries.len());
    Ok(Some(Outcome {
        name,
        size_bytes: input.size_bytes,
        stored_bytes: input.stored_bytes,
        costs,
        libraries,
    }))
}

impl Input {
    fn cut(bytes: &[u8], setup: &Setup) -> Result<Self> {
        let compress = |bytes: &[u8]| {
            let mut stored = Vec::new();
            let is_compressed = match setup.level {
                Some(level) => reference::compress_high(bytes, level, &mut stored),
                None => reference::compress_fast(bytes, 1, &mut stored),
            };
            let block = Block {
                stored,
                size_bytes: bytes.len(),
            };
            let too_large = || Error::new(ErrorCode::BAD_ARGUMENTS, "Take a smaller --block");
            is_compressed.then_some(block).ok_or_else(too_large)
        };
        let blocks = bytes
            .chunks(setup.block_bytes)
            .map(compress)
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            size_bytes: bytes.len(),
            stored_bytes: blocks.iter().map(|block| block.stored.len()).sum(),
            blocks,
            num_passes: setup.least_bytes.div_ceil(bytes.len()).max(1),
        })
    }

    /// Checks that a decoder of that name gives the file's bytes.
    fn verify(
        &self,
        bytes: &[u8],
        name: &str,
        decompress: impl Fn(&[u8], &mut PaddedBuffer) -> bool,
    ) -> Result<()> {
        let mut out = PaddedBuffer::default();
        let mut rest = bytes;
        for block in &self.blocks {
            out.reset(block.size_bytes);
            let is_decompressed = decompress(&block.stored, &mut out);
            let expected = rest.split_off(..block.size_bytes);
            if !is_decompressed || expected != Some(&out[..]) {
                return Err(Error::bug(format!("`{name}` gave other bytes")));
            }
        }
        Ok(())
    }

    /// The forms, what chooses between them, which knows nothing of the file when a run begins, and the libraries.
    fn entrants<'a>(&'a self, libraries: &'a [Library]) -> Vec<Entrant<'a, usize>> {
        let fixed = available().map(|form| Entrant {
            name: form.name.to_owned(),
            order: String::new(),
            run: Box::new(move || {
                let num_bytes = self.pass(|stored, out| form.decompress(stored, out).is_ok());
                Ok((num_bytes, None))
            }),
        });
        let adaptive = Entrant {
            name: ADAPTIVE.to_owned(),
            order: String::new(),
            run: Box::new(|| {
                let mut decoder = Decoder::new();
                let num_bytes = self.pass(|stored, out| decoder.decompress(stored, out).is_ok());
                Ok((num_bytes, Some(decoder.best().name)))
            }),
        };
        let libraries = libraries.iter().map(|library| Entrant {
            name: format!("liblz4 {}", library.version()),
            order: String::new(),
            run: Box::new(|| {
                let num_bytes = self.pass(|block, out| library.decompress(block, out).is_ok());
                Ok((num_bytes, None))
            }),
        });
        fixed.chain([adaptive]).chain(libraries).collect()
    }

    /// Goes through the file as often as a run does; bytes that were decompressed.
    fn pass(&self, mut decompress: impl FnMut(&[u8], &mut PaddedBuffer) -> bool) -> usize {
        let mut out = PaddedBuffer::default();
        let mut num_bytes = 0;
        for _ in 0..self.num_passes {
            for block in &self.blocks {
                out.reset(block.size_bytes);
                if decompress(&block.stored, &mut out) {
                    num_bytes += out.len();
                }
            }
        }
        num_bytes
    }
}
