//! Keeps the definitions of databases, tables, views and functions in a folder, as a script.
//!
//! Rows of Memory tables are not kept: such a table is there again, and empty, as in ClickHouse.
//!
//! Any number of processes read a folder; the first that changes a definition keeps it for itself
//! until it ends, by a lock on a file that the system releases with the process. Another one waits for
//! a moment, and takes over what the first has changed.
//!
//! | module | owns |
//! |---|---|
//! | [`script`] | the script and its checksum |

mod script;

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use basalt_error::{Error, ErrorCode, Result};

pub(crate) use script::create_function;

use crate::database::Database;
use crate::session::{Io, Session};
use crate::store;

const FILE: &str = "definitions.sql";

const LOCK: &str = "definitions.lock";

/// How long a change waits for another process that holds the folder.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The first pause between two looks at the lock; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// The folder of the definitions.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The script as it was read or written last.
    script: Vec<u8>,
    /// That of its file.
    stamp: Option<Stamp>,
    /// How often the catalog had been changed then.
    num_changes: u64,
    /// Held from the first change on.
    lock: Option<File>,
}

impl Folder {
    fn script_file(&self) -> PathBuf {
        self.path.join(FILE)
    }

    /// Takes over the definitions that are kept, if they are others.
    fn take_over(&mut self, database: &Database) -> Result<()> {
        let script = read(&self.script_file())?;
        if script != self.script {
            adopt(database, &self.path)?;
            self.script = script;
        }
        Ok(())
    }
}

/// What changes with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    num_bytes: u64,
    #[cfg(unix)]
    inode: u64,
}

impl Stamp {
    /// None if there is no such file.
    fn of(file: &Path) -> Option<Self> {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(file).ok()?;
        Some(Self {
            modified: metadata.modified().ok(),
            num_bytes: metadata.len(),
            #[cfg(unix)]
            inode: metadata.ino(),
        })
    }
}

/// Takes over what another process has changed, unless this one does.
///
/// # Errors
/// If the definitions there are damaged.
pub(crate) fn refresh(database: &Database) -> Result<()> {
    // Whoever has it takes them over, or writes them: queries need not wait for the disk.
    let Some(mut folder) = database.folder.try_lock() else {
        return Ok(());
    };
    let Some(folder) = folder.as_mut().filter(|f| f.lock.is_none()) else {
        return Ok(());
    };
    let stamp = Stamp::of(&folder.script_file());
    if stamp != folder.stamp {
        folder.take_over(database)?;
        folder.stamp = stamp;
    }
    Ok(())
}

/// Whether this process may change definitions, and tables on disk.
pub(crate) fn is_claimed(database: &Database) -> bool {
    match database.folder.lock().as_ref() {
        Some(folder) => folder.lock.is_some(),
        // While the script runs there is no folder yet, but a place for tables.
        None => database.store.is_none(),
    }
}

/// Runs the folder's script.
pub(crate) fn load(database: &Arc<Database>, path: &Path) -> Result<Folder> {
    let stamp = Stamp::of(&path.join(FILE));
    let text = read(&path.join(FILE))?;
    let mut folder = Folder {
        path: path.to_owned(),
        script: text.clone(),
        stamp,
        num_changes: 0,
        lock: None,
    };
    let file = folder.script_file();
    let is_checked = script::is_checked(&text, &file)?;
    let mut session = Session::new(database);
    session.loads_definitions = true;
    // Who made a table was allowed to.
    let settings = &mut session.settings;
    settings.set("allow_suspicious_low_cardinality_types", "1")?;
    for parsed in basalt_parser::parse_statements(&text) {
        let parsed = parsed.map_err(|e| e.within(file.display()))?;
        let io = Io {
            out: &mut std::io::sink(),
            input: None,
        };
        session
            .run(&text, &parsed, io)
            .map_err(|e| e.within(file.display()))?;
    }
    if !is_checked {
        store::check_known(database, &file)?;
    }
    folder.num_changes = database.catalog.num_changes();
    Ok(folder)
}

/// The script, empty if there is none yet.
fn read(file: &Path) -> Result<Vec<u8>> {
    match std::fs::read(file) {
        Ok(text) => Ok(text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Error::from(e).within(file.display())),
    }
}

/// Makes sure that this process may change definitions; call it before a change.
///
/// # Errors
/// `CANNOT_OPEN_FILE` if another process may, and does not end soon.
pub(crate) fn claim(database: &Database) -> Result<()> {
    let mut folder = database.folder.lock();
    let Some(folder) = folder.as_mut().filter(|f| f.lock.is_none()) else {
        return Ok(());
    };
    let mut lock = locked(&folder.path)?;
    folder.take_over(database)?;
    // Who waits for the folder is told which process has it.
    let written = lock
        .set_len(0)
        .and_then(|()| write!(lock, "{}", std::process::id()));
    written.map_err(|e| Error::from(e).within(folder.path.display()))?;
    folder.lock = Some(lock);
    let file = folder.script_file();
    if !script::is_checked(&folder.script, &file)? {
        // A folder whose definitions are missing is told from one without any.
        let script = script::of(database)?;
        write_script(folder, script::with_checksum(script))?;
    }
    crate::on_disk::own_all(database);
    Ok(())
}

/// The lock of a folder, waited for if another process has it.
fn locked(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let cannot = |e: std::io::Error| Error::from(e).within(path.display());
    let options = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .to_owned();
    let mut lock = options.open(&path).map_err(cannot)?;
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(e)) => return Err(cannot(e)),
            Err(TryLockError::WouldBlock) if started.elapsed() < MAX_WAIT => {
                std::thread::sleep(pause);
                pause *= 2;
            }
            Err(TryLockError::WouldBlock) => break,
        }
    }
    let mut holder = String::new();
    let _ = lock.read_to_string(&mut holder);
    let holder = match holder.trim() {
        "" => String::new(),
        number => format!(" {number}"),
    };
    Err(Error::new(
        ErrorCode::CANNOT_OPEN_FILE,
        format!(
            "Wait until process{holder} ends, which changes the definitions there, or use another \
             --path: {}",
            folder.display()
        ),
    ))
}

/// Takes over the definitions of another process: what is defined as before keeps its rows.
fn adopt(database: &Database, folder: &Path) -> Result<()> {
    let other = Database::open(folder)?;
    *database.sql_functions.write() = other.sql_functions.read().clone();
    database.catalog.adopt(&other.catalog);
    Ok(())
}

/// Keeps the definitions if tables were changed since they were kept: rows are no safer than their table.
///
/// # Errors
/// As of [`save`].
pub(crate) fn keep(database: &Database) -> Result<()> {
    let kept = database.folder.lock().as_ref().map(|f| f.num_changes);
    let is_kept = kept.is_none_or(|kept| kept == database.catalog.num_changes());
    match is_kept && database.dropped.lock().is_empty() {
        true => Ok(()),
        false => save(database),
    }
}

/// Writes the script anew; a crash leaves the old one or the new one. Then the folders go of tables that it does not
/// name any more.
///
/// # Errors
/// If the script cannot be written; what was changed holds in this process, and the next statement tries again.
pub(crate) fn save(database: &Database) -> Result<()> {
    let mut folder = database.folder.lock();
    let dropped = std::mem::take(&mut *database.dropped.lock());
    if let Some(folder) = folder.as_mut() {
        let num_changes = database.catalog.num_changes();
        let script = script::of(database).map(script::with_checksum);
        let written = script.and_then(|script| write_script(folder, script));
        if let Err(e) = written {
            database.dropped.lock().extend(dropped);
            return Err(e);
        }
        folder.num_changes = num_changes;
    }
    let known = database.catalog.uuids();
    let is_known = |uuid: &str| known.iter().any(|known| known == uuid);
    let on_disk = dropped.iter().filter_map(|table| table.on_disk());
    // Another session may have given the table another name meanwhile.
    for table in on_disk.filter(|table| !is_known(table.uuid())) {
        if let Some(store) = &database.store {
            store::retire(&store.join(table.uuid()), store::DROPPED_LIFETIME);
        }
        table.set_removed(true);
    }
    if let Some(store) = database.store.as_ref().filter(|_| folder.is_some()) {
        store::finish(store, &known);
        store::remove_retired(store, &known);
    }
    Ok(())
}

fn write_script(folder: &mut Folder, script: Vec<u8>) -> Result<()> {
    let file = folder.script_file();
    let temporary = folder.path.join(format!("{FILE}.new"));
    let write = || -> std::io::Result<()> {
        std::fs::write(&temporary, &script)?;
        File::open(&temporary)?.sync_all()?;
        std::fs::rename(&temporary, &file)?;
        // What was renamed may be the old file again after a loss of power, unless its folder is synced, too.
        File::open(&folder.path)?.sync_all()
    };
    write().map_err(|e| {
        Error::from(e).within(format!("Cannot keep definitions in {}", file.display()))
    })?;
    folder.script = script;
    folder.stamp = Stamp::of(&file);
    Ok(())
}
