//! Probes the processor: features, caches and cores.

use std::path::Path;
use std::sync::OnceLock;

use crate::SimdLevel;

/// What is known about the processor. Sizes that the system does not tell are small guesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The maker's name for it, or the architecture's.
    pub model: String,
    /// The widest level of instructions.
    pub level: SimdLevel,
    /// Features that kernels ask for, by the compiler's names.
    pub features: Vec<&'static str>,
    /// Data cache of a core's first level.
    pub l1d_bytes: usize,
    /// Cache of a core's second level.
    pub l2_bytes: usize,
    /// Cache of the last level, which cores share.
    pub l3_bytes: usize,
    /// Threads that may run at the same time, as far as this process may use them.
    pub num_cores: usize,
}

/// Sizes that no processor of the last ten years falls below.
const GUESSED_BYTES: [usize; 3] = [32 << 10, 256 << 10, 2 << 20];

impl Cpu {
    /// The processor that this runs on, probed at the first call.
    pub fn detect() -> &'static Self {
        static CPU: OnceLock<Cpu> = OnceLock::new();
        CPU.get_or_init(Self::probe)
    }

    fn probe() -> Self {
        let [l1d_bytes, l2_bytes, l3_bytes] = cache_sizes(Path::new(CACHES));
        let description = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            model: model(&description),
            level: SimdLevel::detected(),
            features: features(),
            l1d_bytes,
            l2_bytes,
            l3_bytes,
            num_cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Whether the processor has a feature, by the compiler's name for it.
    pub fn has(&self, feature: &str) -> bool {
        self.features.contains(&feature)
    }
}

/// Where Linux describes the caches of the first processor.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Sizes of the caches of levels 1 (data), 2 and 3.
fn cache_sizes(folder: &Path) -> [usize; 3] {
    let mut sizes = GUESSED_BYTES;
    for index in 0..8 {
        let cache = folder.join(format!("index{index}"));
        let read = |name: &str| std::fs::read_to_string(cache.join(name)).ok();
        let Some((level, kind)) = read("level").zip(read("type")) else {
            break;
        };
        let level = level.trim().parse::<usize>().unwrap_or(0);
        let size = read("size").and_then(|size| size_bytes(size.trim()));
        let place = sizes.get_mut(level.wrapping_sub(1));
        if let Some((place, size)) = place.zip(size).filter(|_| kind.trim() != "Instruction") {
            *place = size;
        }
    }
    sizes
}

/// Reads `48K`, `2M` or plain bytes.
fn size_bytes(text: &str) -> Option<usize> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' => (text.trim_end_matches('K'), 10),
        b'M' => (text.trim_end_matches('M'), 20),
        b'G' => (text.trim_end_matches('G'), 30),
        _ => (text, 0),
    };
    digits.parse::<usize>().ok()?.checked_shl(shift)
}

/// The processor's name in Linux's description of it.
fn model(description: &str) -> String {
    let mut lines = description.lines().filter_map(|line| line.split_once(':'));
    let name = lines.find(|(key, _)| key.trim() == "model name");
    name.map_or(std::env::consts::ARCH, |(_, name)| name.trim())
        .to_owned()
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    use std::arch::is_x86_feature_detected as has;
    let all = [
        ("sse4.2", has!("sse4.2")),
        ("popcnt", has!("popcnt")),
        ("avx", has!("avx")),
        ("avx2", has!("avx2")),
        ("fma", has!("fma")),
        ("bmi1", has!("bmi1")),
        ("bmi2", has!("bmi2")),
        ("avx512f", has!("avx512f")),
        ("avx512bw", has!("avx512bw")),
        ("avx512dq", has!("avx512dq")),
        ("avx512vl", has!("avx512vl")),
        ("avx512cd", has!("avx512cd")),
        ("avx512ifma", has!("avx512ifma")),
        ("avx512vbmi", has!("avx512vbmi")),
        ("avx512vbmi2", has!("avx512vbmi2")),
        ("avx512vpopcntdq", has!("avx512vpopcntdq")),
    ];
    let present = all.into_iter().filter(|(_, present)| *present);
    present.map(|(name, _)| name).collect()
}

#[cfg(target_arch = "aarch64")]
fn features() -> Vec<&'static str> {
    vec!["neon"]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::{Cpu, GUESSED_BYTES, cache_sizes, model, size_bytes};

    #[test]
    fn this_processor_has_plausible_caches() {
        let cpu = Cpu::detect();
        assert!(cpu.num_cores >= 1);
        assert!((8 << 10..=4 << 20).contains(&cpu.l1d_bytes), "{cpu:?}");
        assert!(cpu.l2_bytes >= cpu.l1d_bytes, "{cpu:?}");
        assert!(!cpu.model.is_empty());
        assert_eq!(cpu.has("avx2"), cpu.features.contains(&"avx2"));
    }

    #[test]
    fn what_the_system_does_not_tell_is_guessed() {
        let nowhere = std::path::Path::new("no such folder");
        assert_eq!(cache_sizes(nowhere), GUESSED_BYTES);
        assert_eq!(model(""), std::env::consts::ARCH);
        assert_eq!(model("vendor\t: A\nmodel name\t: B 7\n"), "B 7");
    }

    #[test]
    fn sizes_have_units() {
        let read = ["48K", "2M", "1G", "512", "", "K"].map(size_bytes);
        assert_eq!(
            read,
            [
                Some(48 << 10),
                Some(2 << 20),
                Some(1 << 30),
                Some(512),
                None,
                None
            ]
        );
    }
}
