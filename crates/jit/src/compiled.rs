//! Runs a program in machine code.

use std::fmt;
use std::time::{Duration, Instant};

use basalt_adapt::SimdLevel;
use basalt_kernels::Bitmap;
use basalt_kernels::twofold::{Twofold, join_lanes};

use crate::column::{Column, LANES, MappedRows, Outcome, WrongColumns, check, identity, ordered};
use crate::emit::{KERNEL, counts_all, emit, num_copies};
use crate::ir::Type;
use crate::llvm;
use crate::program::{Fold, Grouped, Output, Program};

/// Why a program could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError(pub(crate) String);

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CompileError {}

/// The compiled function: addresses of the columns, number of rows, addresses of the outputs.
type Kernel = unsafe extern "C" fn(*const *const u8, u64, *const *mut u8);

/// A program in machine code.
pub struct Compiled {
    program: Program,
    code: llvm::Code,
    kernel: Kernel,
    elapsed: Duration,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

/// Whether this machine can compile at all.
///
/// # Errors
/// Why it cannot, beginning with what to do.
pub fn availability() -> Result<(), &'static str> {
    llvm::available()
}

/// [`availability`] for tests: says that one is left out, if so.
///
/// # Panics
/// If nothing can be compiled although `BASALT_REQUIRE_LLVM` is set, so that where the library is installed no test passes
/// without it.
pub fn is_available_to_tests() -> bool {
    match availability() {
        Ok(()) => true,
        Err(why) if std::env::var_os("BASALT_REQUIRE_LLVM").is_some() => panic!("{why}"),
        Err(why) => {
            eprintln!("LEFT OUT, nothing was compiled: {why}");
            false
        }
    }
}

impl Compiled {
    /// Compiles `program` for the instructions that loops may use now, which takes some milliseconds.
    ///
    /// # Errors
    /// If there is no LLVM on the machine, or it refuses.
    pub fn try_new(program: Program) -> Result<Self, CompileError> {
        Self::try_with_level(program, SimdLevel::current())
    }

    /// As [`Compiled::try_new`], for the instructions that `level` allows, as far as the processor has them.
    ///
    /// # Errors
    /// If there is no LLVM on the machine, or it refuses.
    pub fn try_with_level(program: Program, level: SimdLevel) -> Result<Self, CompileError> {
        // Loading the library is no part of what a compilation takes.
        llvm::available().map_err(|why| CompileError(why.to_owned()))?;
        let started = Instant::now();
        let code = llvm::compile(&emit(&program), KERNEL, level).map_err(CompileError)?;
        // SAFETY: (type) `emit` writes the function with exactly these arguments. (lifetime) the code is
        //         freed with `self`, which calls it only by reference.
        let kernel = unsafe { std::mem::transmute::<usize, Kernel>(code.address()) };
        Ok(Self {
            program,
            code,
            kernel,
            elapsed: started.elapsed(),
        })
    }

    /// What is compiled.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How long compiling took.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Bytes that the code and its text take.
    pub fn size_bytes(&self) -> usize {
        self.code.size_bytes() + self.program.text().len()
    }

    /// Runs it over `num_rows` rows; the result is that of [`interpret`](crate::interpret()), where NaNs
    /// count as equal.
    ///
    /// # Errors
    /// If the columns are not those of the program.
    pub fn run(
        &self,
        columns: &[Option<Column<'_>>],
        num_rows: usize,
    ) -> Result<Vec<Outcome>, WrongColumns> {
        check(&self.program, columns, num_rows)?;
        let inputs = Inputs::new(&self.program, columns, num_rows);
        let mut outputs: Vec<Room> = self
            .program
            .outputs()
            .iter()
            .map(|output| Room::new(&self.program, *output, num_rows))
            .collect();
        let addresses: Vec<*mut u8> = outputs.iter_mut().flat_map(Room::addresses).collect();
        // SAFETY: (reads) `check` has compared type and length of every column that the program uses with
        //         what `emit` was told, `Inputs` has a bit for each row; the loops read rows below
        //         `num_rows` only, whole vectors in the first 32 * n rows. (writes) a `Room` has a value
        //         and a bit for each row, or 32 accumulators, or some
        //         for each group and as many more, beyond which no ordinal leads. (alignment) slices of numbers are aligned to
        //         these, which is what the text says; words are to 8. (aliasing) outputs were made above.
        unsafe {
            (self.kernel)(
                inputs.addresses.as_ptr(),
                num_rows as u64,
                addresses.as_ptr(),
            );
        }
        let rooms = outputs.into_iter().zip(self.program.outputs());
        Ok(rooms
            .map(|(room, output)| room.into_outcome(&self.program, *output, num_rows))
            .collect())
    }
}

/// Addresses of values and bits of all columns. Bits are copied so that the first row's is the lowest of
/// a word: a sixty-fourth of a word for each row, and nothing is read beyond a bitmap's end.
struct Inputs {
    addresses: Vec<*const u8>,
    /// What some of the addresses point to.
    _bits: Vec<Vec<u64>>,
}

impl Inputs {
    fn new(program: &Program, columns: &[Option<Column<'_>>], num_rows: usize) -> Self {
        let mut addresses = Vec::with_capacity(2 * program.columns().len());
        let mut all_bits = Vec::new();
        for (wanted, column) in program.columns().iter().zip(columns) {
            let (Some((_, is_nullable)), Some(column)) = (wanted, column) else {
                addresses.extend([std::ptr::null(); 2]);
                continue;
            };
            addresses.push(column.values.address());
            if !is_nullable {
                addresses.push(std::ptr::null());
                continue;
            }
            let bits = bits_of(column.validity, num_rows);
            // The vector's words stay where they are when the vector is moved.
            addresses.push(bits.as_ptr().cast());
            all_bits.push(bits);
        }
        Self {
            addresses,
            _bits: all_bits,
        }
    }
}

fn bits_of(validity: Option<Bitmap<'_>>, num_rows: usize) -> Vec<u64> {
    let words = 0..num_rows.div_ceil(64);
    match validity {
        None => words.map(|_| u64::MAX).collect(),
        // In the byte order of the processor's words, which is that of the bits on all that are supported.
        Some(valid) => words.map(|word| valid.word(word).to_le()).collect(),
    }
}

/// Room for what an output gives.
struct Room {
    words: Vec<u64>,
    validity: Vec<u64>,
}

impl Room {
    fn new(program: &Program, output: Output, num_rows: usize) -> Self {
        if let Output::Map(id) = output {
            let num_words = num_words(program.graph().type_of(id), num_rows);
            let num_bits = match program.graph().is_nullable(id) {
                true => num_rows,
                false => 0,
            };
            let mut words = Vec::with_capacity(num_words);
            if program.graph().type_of(id) == Type::Bool {
                words.resize(num_words, 0);
            } else if let Some(last) = words.spare_capacity_mut()[..num_words].last_mut() {
                // The rows write all words, but of the last one a part only.
                last.write(0);
            }
            return Self {
                words,
                validity: vec![0; num_bits.div_ceil(64)],
            };
        }
        let first = match ordered_type(program, output) {
            Some(float) => ordered(float, identity(program, output)),
            None => identity(program, output),
        };
        let repeated = match lane_bits(program, output) {
            64 => first,
            bits => (0..64)
                .step_by(bits as usize)
                .fold(0, |word, shift| word | first << shift),
        };
        Self {
            words: vec![repeated; num_lane_words(program, output)],
            validity: Vec::new(),
        }
    }

    fn addresses(&mut self) -> [*mut u8; 2] {
        [
            self.words.as_mut_ptr().cast(),
            self.validity.as_mut_ptr().cast(),
        ]
    }

    /// What stands in the room when the function has run for `num_rows` rows.
    fn into_outcome(mut self, program: &Program, output: Output, num_rows: usize) -> Outcome {
        if let Output::Map(id) = output {
            // SAFETY: (init) the function has written the values of all rows; what else the last word has was
            //         written before, as were all words of flags. (bounds) there is room for as many words. Pays in
            //         `benchmarks/run.py --suites fused`, query `rows`.
            unsafe {
                self.words
                    .set_len(num_words(program.graph().type_of(id), num_rows));
            }
            let is_nullable = program.graph().is_nullable(id);
            return Outcome::Rows(MappedRows {
                words: self.words,
                validity: is_nullable.then_some(self.validity),
            });
        }
        if counts_all(program, output) {
            return Outcome::One(num_rows as u64);
        }
        let bits = lane_bits(program, output) as usize;
        let lane = |lane: usize| {
            let word = self.words.get(lane * bits / 64).copied().unwrap_or(0);
            word >> (lane * bits % 64) & (u64::MAX >> (64 - bits))
        };
        if let Some(grouped) = program.grouped() {
            let num_places = grouped.num_groups + 1;
            let value = |place: usize| {
                let copies = (0..num_copies(grouped)).map(|copy| lane(copy * num_places + place));
                joined(program, output, copies)
            };
            return Outcome::Groups((0..num_places).map(value).collect());
        }
        match output {
            Output::Fold(Fold::Sum, id) if program.graph().type_of(id).is_float() => {
                let lanes = std::array::from_fn(|i| Twofold {
                    sum: f64::from_bits(lane(i)),
                    rest: f64::from_bits(lane(LANES + i)),
                });
                Outcome::Sum(join_lanes(lanes))
            }
            // The lanes of a count but the first stay 0.
            _ => Outcome::One(joined(program, output, (0..LANES).map(lane))),
        }
    }
}

/// The value of a fold, of those of its accumulators.
fn joined(program: &Program, output: Output, lanes: impl Iterator<Item = u64>) -> u64 {
    let Output::Fold(fold @ (Fold::Min | Fold::Max), id) = output else {
        return lanes.fold(0, u64::wrapping_add);
    };
    let best = extreme(fold, program.graph().type_of(id), lanes);
    match ordered_type(program, output) {
        Some(float) => ordered(float, best),
        None => best,
    }
}

/// Words of the values of so many rows.
fn num_words(data_type: Type, num_rows: usize) -> usize {
    (num_rows * data_type.bits() as usize).div_ceil(64)
}

/// Accumulators of a fold.
fn num_lanes(program: &Program) -> usize {
    let of_groups = |grouped: Grouped| num_copies(grouped) * (grouped.num_groups + 1);
    program.grouped().map_or(LANES, of_groups)
}

/// Words of all accumulators of a fold, at least.
fn num_lane_words(program: &Program, output: Output) -> usize {
    match output {
        // Sums, and what these have rounded away.
        Output::Fold(Fold::Sum, id) if program.graph().type_of(id).is_float() => 2 * LANES,
        _ => num_lanes(program),
    }
}

/// Bits of an accumulator.
fn lane_bits(program: &Program, output: Output) -> u32 {
    match output {
        Output::Fold(Fold::Min | Fold::Max, id) => program.graph().type_of(id).bits(),
        _ => 64,
    }
}

/// The type of floats whose accumulators are keys that have their order, if `output` has such.
fn ordered_type(program: &Program, output: Output) -> Option<Type> {
    let Output::Fold(Fold::Min | Fold::Max, id) = output else {
        return None;
    };
    Some(program.graph().type_of(id)).filter(|data_type| data_type.is_float())
}

fn extreme(fold: Fold, data_type: Type, lanes: impl Iterator<Item = u64>) -> u64 {
    // Turning the sign makes signed integers, and keys of floats, compare as unsigned ones do.
    let sign = if data_type.is_signed() || data_type.is_float() {
        1 << (data_type.bits() - 1)
    } else {
        0
    };
    let ordered = lanes.map(|lane| lane ^ sign);
    let best = if fold == Fold::Min {
        ordered.min()
    } else {
        ordered.max()
    };
    best.unwrap_or(0) ^ sign
}

/// The assembly of `program` for the instructions that `level` allows, for tests and for who wants to see it.
///
/// # Errors
/// As [`Compiled::try_new`].
pub fn assembly(program: &Program, level: SimdLevel) -> Result<String, CompileError> {
    llvm::assembly(&emit(program), level).map_err(CompileError)
}
