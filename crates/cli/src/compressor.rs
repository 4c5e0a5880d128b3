//! Runs `basalt compressor`: bytes into a stream of blocks, and back.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use basalt_codec::stream::{BlockReader, StreamError, decode_all, encode_all};
use basalt_codec::{
    Auto, BlockEncoder, Chain, Codec, Compression, DecodeError, Element, Kind, Statistics, block,
};
use basalt_error::{Error, ErrorCode, Result};
use clap::{Arg, ArgAction, ArgMatches, Command};

const EXAMPLES: &str = "Examples:
  basalt compressor < column.bin > column.blocks
  basalt compressor -d < column.blocks > column.bin
  basalt compressor --stat < column.blocks           sizes, codec and statistics of each block
  basalt compressor --type UInt32 --codec Delta --codec FrameOfReference --codec ZSTD(3) in.bin out.blocks
  basalt compressor --type UInt64 --codec Auto < column.bin | basalt compressor --stat";

const STAT: &str = "Print for each block of a stream: bytes before and after, codec, type and number of values, least \
                    and greatest, NULLs, different ones (about)";

/// The command with its options, those of clickhouse-compressor and the type of the values.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .help(help)
            .action(ArgAction::SetTrue)
    };
    Command::new("compressor")
        .about("Turns bytes into a stream of compressed blocks, or back")
        .after_help(EXAMPLES)
        .arg(flag("decompress", "Decompress a stream of blocks").short('d'))
        .arg(
            flag("stat", STAT)
                .conflicts_with("decompress"),
        )
        .arg(
            Arg::new("codec")
                .long("codec")
                .value_name("STEP")
                .help("Step of the codec, in the order of CODEC(…); or Auto [LZ4]")
                .action(ArgAction::Append)
                .conflicts_with_all(["hc", "zstd", "none"]),
        )
        .arg(flag("hc", "As --codec LZ4HC").conflicts_with_all(["zstd", "none"]))
        .arg(flag("zstd", "As --codec ZSTD").conflicts_with("none"))
        .arg(flag("none", "As --codec NONE"))
        .arg(
            Arg::new("level")
                .long("level")
                .value_name("N")
                .help("Level of --hc or --zstd")
                .allow_negative_numbers(true)
                .value_parser(clap::value_parser!(i8)),
        )
        .arg(
            Arg::new("type")
                .long("type")
                .value_name("TYPE")
                .help("What the bytes are: UInt8 to UInt256, Int8 to Int256, Float32, Float64, String")
                .default_value("String"),
        )
        .arg(
            Arg::new("block-size")
                .long("block-size")
                .short('b')
                .value_name("BYTES")
                .help("Bytes of a block, before compression")
                .default_value("1048576")
                .value_parser(clap::value_parser!(u32).range(1..=block::MAX_BYTES as i64)),
        )
        .arg(path("input", "INPUT", "The file to read [standard input]"))
        .arg(path("output", "OUTPUT", "The file to write [standard output]"))
}

fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .value_name(value)
        .help(help)
        .value_parser(clap::value_parser!(PathBuf))
}

/// Compresses, decompresses or prints sizes, as the options say.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let named = |path: &Path, e: io::Error| Error::from(e).within(path.display());
    let source: Box<dyn Read> = match file(options, "input") {
        Some(path) => Box::new(BufReader::new(
            File::open(path).map_err(|e| named(path, e))?,
        )),
        None => Box::new(io::stdin().lock()),
    };
    if let (Some(input), Some(output)) = (file(options, "input"), file(options, "output"))
        && is_same_file(input, output)
    {
        let text = "Name another OUTPUT: it would be emptied before it is read as INPUT";
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    // Options that cannot be are told before the output is touched.
    let mut encoder = encoder(options)?;
    let block_bytes = block_bytes(options)?;
    let mut sink: Box<dyn Write> = match file(options, "output") {
        Some(path) => {
            let created = File::create(path).map_err(|e| named(path, e))?;
            Box::new(BufWriter::new(created))
        }
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    if options.get_flag("stat") {
        write_sizes(source, &mut sink)?;
    } else if options.get_flag("decompress") {
        decode_all(source, &mut sink, |_| Ok(())).map_err(stream_error)?;
    } else {
        let encoded = encode_all(source, &mut sink, &mut encoder, block_bytes, |_| Ok(()));
        encoded.map_err(|e| match e.kind() {
            io::ErrorKind::InvalidData => {
                let text = format!("Take another --type: {e}");
                Error::new(ErrorCode::BAD_ARGUMENTS, text)
            }
            _ => Error::from(e),
        })?;
    }
    sink.flush().map_err(Error::from)
}

fn file<'a>(options: &'a ArgMatches, name: &str) -> Option<&'a Path> {
    options.get_one::<PathBuf>(name).map(PathBuf::as_path)
}

/// Whether two names are those of one file that is there, by whatever links; devices are no such files.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let of = |path: &Path| {
        let file = path.metadata().ok().filter(Metadata::is_file)?;
        Some((file.dev(), file.ino()))
    };
    of(a).is_some() && of(a) == of(b)
}

fn encoder(options: &ArgMatches) -> Result<BlockEncoder> {
    let name = options
        .get_one::<String>("type")
        .map_or("String", String::as_str);
    let unknown = || {
        let text = format!("Take an integer, a float or String for --type: {name}");
        Error::new(ErrorCode::BAD_ARGUMENTS, text)
    };
    let element = Element::named(name).ok_or_else(unknown)?;
    let codec = codec(options)?;
    if let Codec::Fixed(chain) = codec
        && !chain.fits(element)
    {
        let text = format!("Take another --type: {chain} is no codec for {name}");
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    }
    Ok(BlockEncoder::new(element, codec))
}

fn codec(options: &ArgMatches) -> Result<Codec> {
    let wrong_level = || Error::new(ErrorCode::BAD_ARGUMENTS, "--level is out of range");
    let level = options.get_one::<i8>("level").copied();
    let compression = if options.get_flag("hc") {
        let level = u8::try_from(level.unwrap_or(9)).ok();
        let level = level.filter(|level| (1..=12).contains(level));
        Compression::Lz4High(level.ok_or_else(wrong_level)?)
    } else if options.get_flag("zstd") {
        let level = level.unwrap_or(1);
        let is_known = (-100..=22).contains(&level);
        Compression::Zstd(is_known.then_some(level).ok_or_else(wrong_level)?)
    } else if level.is_some() {
        let text = "Take --level with --hc or --zstd, or a level in brackets: --codec 'ZSTD(3)'";
        return Err(Error::new(ErrorCode::BAD_ARGUMENTS, text));
    } else if options.get_flag("none") {
        Compression::None
    } else {
        Compression::Lz4
    };
    let Some(steps) = options.get_many::<String>("codec") else {
        return Ok(Codec::Fixed(Chain::compressed(compression)));
    };
    let steps: Vec<&str> = steps.map(String::as_str).collect();
    if steps == ["Auto"] {
        return Ok(Codec::Auto(Box::<Auto>::default()));
    }
    let chain = Chain::parse(&steps.join(", "));
    let unknown = |e| Error::new(ErrorCode::UNKNOWN_CODEC, format!("{e}"));
    Ok(Codec::Fixed(chain.map_err(unknown)?))
}

/// Bytes of a block, which are whole values: the next lower multiple of their width.
fn block_bytes(options: &ArgMatches) -> Result<usize> {
    let missing = || Error::bug("an option without its default");
    let block_bytes = options
        .get_one::<u32>("block-size")
        .copied()
        .ok_or_else(missing)?;
    let name = options
        .get_one::<String>("type")
        .map_or("String", String::as_str);
    let width = Element::named(name).map_or(1, |element| u32::from(element.width()));
    let too_small = || {
        let text = format!("Take a larger --block-size: a value has {width} bytes");
        Error::new(ErrorCode::BAD_ARGUMENTS, text)
    };
    let whole = (block_bytes / width * width) as usize;
    if whole == 0 {
        Err(too_small())
    } else {
        Ok(whole)
    }
}

/// Prints sizes before and after, as clickhouse-compressor does, and what it does not know: the codec, what the values
/// are, how many, the least and the greatest, how many stand for NULLs and about how many differ.
fn write_sizes(source: impl Read, sink: &mut impl Write) -> Result<()> {
    let mut reader = BlockReader::new(source);
    while let Some(block) = reader.next_block().map_err(stream_error)? {
        let (before, after) = (block.decoded_bytes(), block.payload_bytes());
        let (chain, element, num) = (block.chain(), block.element(), block.num_values());
        let line = format!("{before}\t{after}\t{chain}\t{element}\t{num}");
        let known = known(element, block.statistics());
        writeln!(sink, "{line}\t{known}").map_err(Error::from)?;
    }
    Ok(())
}

/// What a block's header tells of its values; `-` is nothing.
fn known(element: Element, statistics: &Statistics) -> String {
    let bounds = statistics.bounds.map(|bounds| match element.kind() {
        Kind::Float => {
            let (least, greatest) = (f64::from_bits(bounds.0), f64::from_bits(bounds.1));
            format!("{least:?}\t{greatest:?}")
        }
        Kind::Signed => format!("{}\t{}", bounds.0.cast_signed(), bounds.1.cast_signed()),
        Kind::Unsigned | Kind::Bytes => format!("{}\t{}", bounds.0, bounds.1),
    });
    let bounds = bounds.unwrap_or_else(|| "-\t-".to_owned());
    let distinct = match statistics.distinct_estimate {
        0 => "-".to_owned(),
        num => num.to_string(),
    };
    format!("{bounds}\t{}\t{distinct}", statistics.null_count)
}

fn stream_error(e: StreamError) -> Error {
    match e {
        StreamError::Io(e) => Error::from(e),
        StreamError::Damaged { block, error } => {
            let code = match error {
                DecodeError::BadChecksum => ErrorCode::CHECKSUM_DOESNT_MATCH,
                _ => ErrorCode::CORRUPTED_DATA,
            };
            Error::new(code, format!("Block {} is damaged: {error}", block + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{command, run};

    fn run_on(folder: &std::path::Path, options: &[&str]) -> Result<(), String> {
        let names = options
            .iter()
            .map(|option| option.replace("DIR", &folder.to_string_lossy()));
        let matches =
            command().try_get_matches_from(std::iter::once("compressor".to_owned()).chain(names));
        run(&matches.map_err(|e| e.to_string())?).map_err(|e| e.to_string())
    }

    #[test]
    fn streams_are_written_read_and_listed() {
        let folder = std::env::temp_dir().join(format!("basalt-compressor-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let values: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
        std::fs::write(folder.join("in"), &values).unwrap();
        let all: [&[&str]; 5] = [
            &[],
            &["--zstd", "--level", "3"],
            &["--hc", "-b", "100"],
            &["--type", "UInt32", "--codec", "Auto"],
            &[
                "--type",
                "UInt32",
                "--codec",
                "Delta(4)",
                "--codec",
                "FrameOfReference",
                "-b",
                "1000",
            ],
        ];
        for options in all {
            run_on(&folder, &[options, &["DIR/in", "DIR/blocks"]].concat()).unwrap();
            run_on(&folder, &["-d", "DIR/blocks", "DIR/out"]).unwrap();
            assert_eq!(std::fs::read(folder.join("out")).unwrap(), values);
        }
        run_on(&folder, &["--stat", "DIR/blocks", "DIR/sizes"]).unwrap();
        let sizes = std::fs::read_to_string(folder.join("sizes")).unwrap();
        let first = "1000\t9\tDelta, FrameOfReference\tUInt32\t250\t0\t249\t0\t";
        assert_eq!(
            (sizes.lines().count(), sizes.starts_with(first)),
            (4, true),
            "{sizes}"
        );
        let mut blocks = std::fs::read(folder.join("blocks")).unwrap();
        *blocks.last_mut().unwrap() ^= 1;
        std::fs::write(folder.join("blocks"), blocks).unwrap();
        let e = run_on(&folder, &["-d", "DIR/blocks", "DIR/out"]).unwrap_err();
        assert!(e.contains("Code: 40.") && e.contains("Block 4"), "{e}");
        std::fs::hard_link(folder.join("in"), folder.join("same")).unwrap();
        for same in ["DIR/./in", "DIR/same"] {
            let e = run_on(&folder, &["DIR/in", same]).unwrap_err();
            assert!(e.contains("Code: 36."), "{e}");
        }
        assert_eq!(std::fs::read(folder.join("in")).unwrap(), values);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn options_that_mean_nothing_are_errors() {
        let nowhere = std::path::Path::new("nowhere");
        let all: [&[&str]; 6] = [
            &["--codec", "LZ5"],
            &["--codec", "FrameOfReference"],
            &["--level", "3"],
            &["--hc", "--level", "13"],
            &["--type", "Text"],
            &["--zstd", "--hc"],
        ];
        for options in all {
            run_on(nowhere, options).unwrap_err();
        }
    }
}
