//! Lets the process open as many files as the system allows, for a column of a table on disk is a file, and hear of files
//! that are too large as an error.

/// Raises the limit that programs start with to the one that they may have, and lives on at the limit of a file's size.
pub(crate) fn allow_as_many_as_possible() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let most = Rlimit {
            current: maximum,
            maximum,
        };
        // Where the system refuses, the limit stays as it was.
        let _ = setrlimit(Resource::Nofile, most);
        // Somebody who waits for the signal keeps it from ending the process; what writes gets an error.
        let nobody_looks = std::sync::Arc::default();
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, nobody_looks);
    }
}
