//! A disk in memory that fails when it is told to, and forgets what was not synced.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::disk::{Disk, Entry, NewFile};

type Id = u64;

/// What happens at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The process ends: nothing works from that operation on.
    Crash(u64),
    /// That operation fails: the disk is full.
    Full(u64),
    /// All operations fail from that one on, until another fault is set.
    Broken(u64),
}

/// The disk; a clone is the same one.
#[derive(Clone, Debug)]
pub(crate) struct FaultyDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    files: HashMap<Id, Kept<Vec<u8>>>,
    folders: HashMap<Id, Kept<BTreeMap<String, Id>>>,
    next: Id,
    num_operations: u64,
    fault: Fault,
}

/// Something as it is, and as it would be after a crash.
#[derive(Clone, Debug, Default)]
struct Kept<T> {
    now: T,
    synced: T,
}

const ROOT: Id = 0;

impl FaultyDisk {
    pub(crate) fn new(fault: Fault) -> Self {
        Self(Arc::new(Mutex::new(State {
            files: HashMap::new(),
            folders: HashMap::from([(ROOT, Kept::default())]),
            next: 1,
            num_operations: 0,
            fault,
        })))
    }

    /// Whether it had enough operations for the fault.
    pub(crate) fn has_failed(&self) -> bool {
        let state = self.0.lock();
        match state.fault {
            Fault::None => false,
            Fault::Crash(at) | Fault::Full(at) | Fault::Broken(at) => state.num_operations >= at,
        }
    }

    /// Has something else happen; operations are counted from here on.
    pub(crate) fn set(&self, fault: Fault) {
        let mut state = self.0.lock();
        (state.fault, state.num_operations) = (fault, 0);
    }

    /// Looks at the disk: nothing fails, and nothing is counted.
    pub(crate) fn unharmed<T>(&self, look: impl FnOnce() -> T) -> T {
        let (fault, num_operations) = {
            let mut state = self.0.lock();
            (
                std::mem::replace(&mut state.fault, Fault::None),
                state.num_operations,
            )
        };
        let seen = look();
        let mut state = self.0.lock();
        (state.fault, state.num_operations) = (fault, num_operations);
        seen
    }

    /// The disk after a restart: of what was not synced `luck` tells what is there nevertheless.
    pub(crate) fn restarted(&self, mut luck: u64) -> Self {
        let state = self.0.lock();
        let keep_nothing = luck == 0;
        let mut is_lucky = || {
            luck = luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            luck >> 33 & 1 == 1
        };
        let mut ids: Vec<_> = state.files.keys().copied().collect();
        ids.sort_unstable();
        let file = |id: Id| {
            let file = &state.files[&id];
            let now = match !keep_nothing && is_lucky() {
                // A part of what was written.
                true => file.now[..file.now.len() / 2]
                    .to_vec()
                    .max(file.synced.clone()),
                false => file.synced.clone(),
            };
            let synced = now.clone();
            (id, Kept { now, synced })
        };
        let files = ids.into_iter().map(file).collect();
        let mut ids: Vec<_> = state.folders.keys().copied().collect();
        ids.sort_unstable();
        let mut folders = HashMap::new();
        for id in ids {
            let folder = &state.folders[&id];
            let mut now = folder.synced.clone();
            for (name, id) in &folder.now {
                if !keep_nothing && is_lucky() {
                    now.insert(name.clone(), *id);
                }
            }
            let synced = now.clone();
            folders.insert(id, Kept { now, synced });
        }
        Self(Arc::new(Mutex::new(State {
            files,
            folders,
            next: state.next,
            num_operations: 0,
            fault: Fault::None,
        })))
    }
}

fn not_found() -> io::Error {
    ErrorKind::NotFound.into()
}

fn names(path: &Path) -> Vec<String> {
    let names = path.components().filter_map(|c| match c {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    names.collect()
}

impl State {
    /// Counts an operation, and fails if it is the one that does.
    fn operate(&mut self) -> io::Result<()> {
        self.num_operations += 1;
        match self.fault {
            Fault::Crash(at) if self.num_operations >= at => Err(io::Error::other("crashed")),
            Fault::Broken(at) if self.num_operations >= at => Err(io::Error::other("broken")),
            Fault::Full(at) if self.num_operations == at => Err(ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn find(&self, path: &Path) -> io::Result<Id> {
        names(path).iter().try_fold(ROOT, |folder, name| {
            let entries = &self.folders.get(&folder).ok_or_else(not_found)?.now;
            entries.get(name).copied().ok_or_else(not_found)
        })
    }

    fn place(&mut self, path: &Path) -> io::Result<(&mut BTreeMap<String, Id>, String)> {
        let folder = self.find(path.parent().ok_or_else(not_found)?)?;
        let name = names(path).pop().ok_or_else(not_found)?;
        let folder = self.folders.get_mut(&folder).ok_or_else(not_found)?;
        Ok((&mut folder.now, name))
    }

    fn new_id(&mut self) -> Id {
        self.next += 1;
        self.next
    }
}

struct Writer(Arc<Mutex<State>>, Id);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        state.operate()?;
        let file = state.files.get_mut(&self.1).ok_or_else(not_found)?;
        file.now.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for Writer {
    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.0.lock();
        state.operate()?;
        let file = state.files.get_mut(&self.1).ok_or_else(not_found)?;
        file.synced = file.now.clone();
        Ok(())
    }
}

impl Disk for FaultyDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        state.operate()?;
        let mut folder = ROOT;
        for name in names(path) {
            let entries = &state.folders.get(&folder).ok_or_else(not_found)?.now;
            folder = match entries.get(&name) {
                Some(id) => *id,
                None => {
                    let id = state.new_id();
                    state.folders.insert(id, Kept::default());
                    let parent = state.folders.get_mut(&folder).ok_or_else(not_found)?;
                    parent.now.insert(name, id);
                    id
                }
            };
        }
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let mut state = self.0.lock();
        state.operate()?;
        let id = state.new_id();
        state.files.insert(id, Kept::default());
        let (folder, name) = state.place(path)?;
        folder.insert(name, id);
        Ok(Box::new(Writer(Arc::clone(&self.0), id)))
    }

    fn append(&self, path: &Path, len: u64) -> io::Result<Box<dyn NewFile>> {
        let mut state = self.0.lock();
        state.operate()?;
        let id = match state.find(path) {
            Ok(id) => id,
            Err(_) => {
                let id = state.new_id();
                state.files.insert(id, Kept::default());
                let (folder, name) = state.place(path)?;
                folder.insert(name, id);
                id
            }
        };
        let len = usize::try_from(len).unwrap();
        let file = state.files.get_mut(&id).ok_or_else(not_found)?;
        if file.now.len() < len {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        file.now.truncate(len);
        Ok(Box::new(Writer(Arc::clone(&self.0), id)))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut state = self.0.lock();
        state.operate()?;
        let id = state.find(path)?;
        Ok(state.files.get(&id).ok_or_else(not_found)?.now.clone())
    }

    fn read_range(&self, path: &Path, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let whole = self.read(path)?;
        let start = usize::try_from(offset).unwrap();
        let range = whole.get(start..start + bytes.len());
        bytes.copy_from_slice(range.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        Ok(self.read(path)?.len() as u64)
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        self.read(path).map(|_| SystemTime::now())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut state = self.0.lock();
        state.operate()?;
        let id = state.find(path)?;
        let entries = &state.folders.get(&id).ok_or_else(not_found)?.now;
        let entry = |(name, id): (&String, &Id)| Entry {
            name: name.clone(),
            is_folder: state.folders.contains_key(id),
        };
        Ok(entries.iter().map(entry).collect())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        state.operate()?;
        let id = state.find(from)?;
        if state
            .find(to)
            .is_ok_and(|id| state.folders.contains_key(&id))
        {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        let (folder, name) = state.place(from)?;
        folder.remove(&name);
        let (folder, name) = state.place(to)?;
        folder.insert(name, id);
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        state.operate()?;
        let id = state.find(from)?;
        let (folder, name) = state.place(to)?;
        folder.insert(name, id);
        Ok(())
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        state.operate()?;
        state.find(path)?;
        let (folder, name) = state.place(path)?;
        folder.remove(&name);
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        state.operate()?;
        let id = state.find(path)?;
        let folder = state.folders.get_mut(&id).ok_or_else(not_found)?;
        folder.synced = folder.now.clone();
        Ok(())
    }
}
