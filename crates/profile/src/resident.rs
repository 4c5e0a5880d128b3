//! Asks the system how much memory the process really uses.

/// Bytes of the process that lie in memory; none where the system does not tell.
///
/// Memory that was given out and never touched is not among them: the upper half of a table that has just
/// grown.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::resident_bytes;

    #[test]
    fn memory_that_is_written_is_resident() {
        if resident_bytes().is_none() {
            return;
        }
        let bytes = vec![1_u8; 50 << 20];
        assert!(resident_bytes() >= Some(50 << 20));
        assert_eq!(bytes.last(), Some(&1));
    }
}
