//! Decompresses blocks of LZ4 in several ways, of which the fastest differs from column to column.
//!
//! | module | owns |
//! |---|---|
//! | [`reference`] | compression, and the C library's decompression: arm 0 |
//! | `decode` | our decoder: the loop over sequences |
//! | `copy` | copies of 8, 16 or 32 bytes, by plain moves |
//! | `x86` | the same, with instructions that shuffle bytes |
//! | `scalar` | what a block means; decodes the last bytes |
//! | [`library`] | another version of the C library, loaded at run time, for `basalt lab lz4` |
//!
//! How long matches are and how far back they reach depends on the column: long repetitions want
//! wide copies, short distances want a shuffle. Which form wins also depends on the processor, so a
//! [`Decoder`] measures. All forms give the same bytes and refuse what is damaged; of damaged blocks
//! the C library refuses some that the others take (it also checks the rules for a block's last
//! bytes) and takes a match of distance 0, which they refuse. Checksums find such blocks before.
//!
//! Tests: `tests.rs`, and the fuzz targets `lz4_agreement` and `lz4_roundtrip`; bench: `lz4`.

mod copy;
mod decode;
pub mod library;
pub mod reference;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

use basalt_adapt::{Choice, Chooser, SimdLevel, Work, WorkUnit};

use crate::error::Result;
use crate::padded::PaddedBuffer;

/// One way to decompress a block.
#[derive(Debug)]
pub struct Form {
    /// Its name, as settings and tables have it.
    pub name: &'static str,
    level: SimdLevel,
    is_possible: fn() -> bool,
    run: fn(&[u8], &mut PaddedBuffer) -> Result<()>,
}

impl Form {
    /// Decompresses a block into `out`, which it must fill exactly.
    ///
    /// # Errors
    /// If it is damaged; what `out` holds then is unspecified.
    pub fn decompress(&self, block: &[u8], out: &mut PaddedBuffer) -> Result<()> {
        (self.run)(block, out)
    }

    /// Whether the processor has its instructions and the setting allows them.
    pub fn is_available(&self) -> bool {
        self.level <= SimdLevel::current() && (self.is_possible)()
    }
}

const fn portable(name: &'static str, run: fn(&[u8], &mut PaddedBuffer) -> Result<()>) -> Form {
    Form {
        name,
        level: SimdLevel::Scalar,
        is_possible: || true,
        run,
    }
}

/// All forms, the reference first.
#[cfg(target_arch = "x86_64")]
pub static FORMS: &[Form] = &[
    portable("reference", reference::decompress),
    portable("copy8", decode::decode_moves::<8>),
    portable("copy16", decode::decode_moves::<16>),
    portable("copy32", decode::decode_moves::<32>),
    Form {
        name: "copy8_shuffle",
        level: SimdLevel::Sse42,
        is_possible: x86::has_ssse3,
        run: x86::decode_shuffle8,
    },
    Form {
        name: "copy16_shuffle",
        level: SimdLevel::Sse42,
        is_possible: x86::has_ssse3,
        run: x86::decode_shuffle16,
    },
    Form {
        name: "copy32_avx2",
        level: SimdLevel::Avx2,
        is_possible: x86::has_avx2,
        run: x86::decode_moves32,
    },
    Form {
        name: "copy32_shuffle",
        level: SimdLevel::Avx2,
        is_possible: x86::has_avx2,
        run: x86::decode_shuffle32,
    },
    Form {
        name: "copy32_permute",
        level: SimdLevel::Avx512,
        is_possible: x86::has_vbmi,
        run: x86::decode_permute32,
    },
];

/// All forms, the reference first.
#[cfg(not(target_arch = "x86_64"))]
pub static FORMS: &[Form] = &[
    portable("reference", reference::decompress),
    portable("copy8", decode::decode_moves::<8>),
    portable("copy16", decode::decode_moves::<16>),
    portable("copy32", decode::decode_moves::<32>),
];

/// Which of [`FORMS`] decompresses a block of a column.
pub static CHOICE: Choice = Choice::new(
    "lz4_decompress",
    "How blocks of LZ4 are decompressed",
    WorkUnit::Byte,
    &NAMES,
);

/// The forms' names, which are the arms' names.
const NAMES: [&str; FORMS_LEN] = {
    let mut names = [""; FORMS_LEN];
    let mut form = 0;
    while form < FORMS_LEN {
        names[form] = FORMS[form].name;
        form += 1;
    }
    names
};

/// Number of forms, for the array of their names.
const FORMS_LEN: usize = if cfg!(target_arch = "x86_64") { 9 } else { 4 };

/// The forms that may run here and now, the reference first.
pub fn available() -> impl Iterator<Item = &'static Form> {
    FORMS.iter().filter(|form| form.is_available())
}

/// Decompresses the blocks of one column, each by the form that looks fastest for it.
#[derive(Debug)]
pub struct Decoder {
    chooser: Chooser,
    /// Under which the chooser began: it tells which forms may run.
    level: SimdLevel,
}

impl Decoder {
    /// A decoder for a column that nothing is known of yet.
    pub fn new() -> Self {
        Self {
            chooser: Chooser::new(&CHOICE).limited_to(|arm| FORMS[arm].is_available()),
            level: SimdLevel::current(),
        }
    }

    /// Decompresses a block into `out`, which it must fill exactly.
    ///
    /// Begins anew if other instructions may be used than before.
    ///
    /// # Errors
    /// If it is damaged; what `out` holds then is unspecified.
    pub fn decompress(&mut self, block: &[u8], out: &mut PaddedBuffer) -> Result<()> {
        if self.level != SimdLevel::current() {
            *self = Self::new();
        }
        let turn = self.chooser.begin(Work::bytes(out.len()));
        let result = FORMS[turn.arm()].decompress(block, out);
        self.chooser.end(turn);
        result
    }

    /// Tells the choice what it does not know yet, for decoders that are kept.
    pub fn flush(&mut self) {
        self.chooser.flush();
    }

    /// The form that is fastest so far.
    pub fn best(&self) -> &'static Form {
        &FORMS[self.chooser.best()]
    }

    /// How often a form was taken.
    pub fn pulls(&self, form: usize) -> u64 {
        self.chooser.pulls(form)
    }

    /// Nanoseconds that a form took for a byte of this column, if it was measured.
    pub fn mean_ns(&self, form: usize) -> Option<f64> {
        self.chooser.mean_ns(form)
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
