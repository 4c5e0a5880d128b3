//! Knows how much memory this process may have: that of the machine, or what its control groups allow.

use std::path::Path;
use std::sync::LazyLock;

/// Bytes of memory that the process may take.
pub(crate) fn memory_bytes() -> usize {
    static BYTES: LazyLock<usize> = LazyLock::new(|| {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let total = read(Path::new("/proc/meminfo")).lines().find_map(|line| {
            let kilobytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?;
            kilobytes.parse::<usize>().ok()?.checked_mul(1024)
        });
        let groups = read(Path::new("/proc/self/cgroup"));
        let least = total.into_iter().chain(allowed(&groups, read)).min();
        least.unwrap_or(usize::MAX)
    });
    *BYTES
}

/// The least that the control groups allow which `/proc/self/cgroup` lists, of version 1 or 2: each is limited by those
/// around it, too.
fn allowed(groups: &str, read: impl Fn(&Path) -> String) -> Option<usize> {
    let group = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|c| c == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let path = Path::new(path.trim_start_matches('/'));
        let limits = path
            .ancestors()
            .map(|path| Path::new(root).join(path).join(file));
        limits
            .filter_map(|limit| read(&limit).trim().parse().ok())
            .min()
    };
    groups.lines().filter_map(group).min()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::allowed;

    #[test]
    fn the_least_of_all_groups_around_the_process_counts() {
        let read = |path: &Path| {
            let limit = match path.to_str() {
                Some("/sys/fs/cgroup/a.slice/memory.max") => "2147483648\n",
                Some("/sys/fs/cgroup/a.slice/b.service/memory.max") => "max\n",
                Some("/sys/fs/cgroup/memory.max") => "4294967296\n",
                Some("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes") => "1073741824\n",
                Some("/sys/fs/cgroup/memory/memory.limit_in_bytes") => "9223372036854771712\n",
                _ => "",
            };
            limit.to_owned()
        };
        assert_eq!(allowed("0::/a.slice/b.service\n", read), Some(2 << 30));
        assert_eq!(allowed("0::/\n", read), Some(4 << 30));
        let old = "3:cpuset:/docker/x\n4:memory:/docker/x\n0::/none\n";
        assert_eq!(allowed(old, read), Some(1 << 30));
        assert_eq!(allowed("", read), None);
    }
}
