//! Says in LLVM's words which instructions a level allows.

use basalt_adapt::SimdLevel;

/// A processor as LLVM knows it: its name, and what it has beside or lacks of what the name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Processor {
    pub(super) name: String,
    pub(super) features: String,
}

impl Processor {
    /// As much of the processor as `level` allows. The lowest level is what every processor of the architecture has:
    /// with x86-64 that is SSE2, which LLVM cannot do without for floats, and so uses for vectors, too.
    ///
    /// A feature that is taken away takes with it all that builds on it.
    pub(super) fn limited(self, level: SimdLevel) -> Self {
        if !cfg!(target_arch = "x86_64") {
            return self;
        }
        let excluded = match level {
            SimdLevel::Scalar | SimdLevel::Neon => {
                return Self {
                    name: "x86-64".to_owned(),
                    features: String::new(),
                };
            }
            SimdLevel::Sse42 => "-avx,-bmi,-bmi2",
            SimdLevel::Avx2 => "-avx512f",
            SimdLevel::Avx512 => return self,
        };
        // What comes last counts.
        let features = match self.features.as_str() {
            "" => excluded.to_owned(),
            features => format!("{features},{excluded}"),
        };
        Self { features, ..self }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::Processor;
    use basalt_adapt::SimdLevel;

    #[test]
    fn levels_take_features_away() {
        let of = |name: &str, features: &str| Processor {
            name: name.to_owned(),
            features: features.to_owned(),
        };
        let widest = of("znver5", "+avx2,+avx512f");
        let limited = SimdLevel::ALL.map(|level| widest.clone().limited(level));
        let expected = [
            of("x86-64", ""),
            of("x86-64", ""),
            of("znver5", "+avx2,+avx512f,-avx,-bmi,-bmi2"),
            of("znver5", "+avx2,+avx512f,-avx512f"),
            widest,
        ];
        assert_eq!(limited, expected);
        let plain = of("x86-64-v3", "").limited(SimdLevel::Avx2);
        assert_eq!(plain.features, "-avx512f");
    }
}
