//! Chooses between ways to do the same work by what they cost on this processor and this data.
//!
//! | module | owns |
//! |---|---|
//! | [`cpu`] | [`Cpu`]: what the processor can do, its caches and cores |
//! | [`level`] | [`SimdLevel`]: how wide kernels may work, detected once and forceable |
//! | [`choice`] | [`Choice`]: a named decision with arms, and the tally of every arm |
//! | [`chooser`] | [`Chooser`]: picks an arm by Thompson sampling and learns from the time it took |
//! | [`log`] | all decisions of this process, for `system.adaptive_choices` |
//! | [`random`] | a small generator of random numbers |
//!
//! Arm 0 of every choice is the plain, portable version. Adaptation changes speed, never results.

#![forbid(unsafe_code)]

pub mod choice;
pub mod chooser;
pub mod cpu;
pub mod level;
pub mod log;
pub mod random;

pub use choice::{Choice, MAX_ARMS, UnknownArm, WorkUnit};
pub use chooser::{Chooser, MIN_MEASURED_BYTES, Turn, Work};
pub use cpu::Cpu;
pub use level::SimdLevel;
pub use log::{ArmRecord, decisions};
pub use random::Random;
