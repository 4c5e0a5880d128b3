//! Writes arrays as blocks: flags and lengths first, then the values.
//!
//! ```text
//! Nullable(T)         a byte for each row, 1 = there is a value; then T, with another value in gaps
//! String              the lengths as UInt32; then all bytes
//!                     or, if many are the same, their numbers as UInt16; then the different ones as above
//! Array(T), Map(K, V) the lengths as UInt32; then the elements, or keys and values
//! Tuple(T, …)         the elements
//! Decimal(P, S)       the digits as Int32 (P up to 9) or Int64 (P up to 38), in groups in which these hold all
//! all else            the values
//! ```

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, ListArray};
use arrow::buffer::Buffer;
use arrow::datatypes::DataType as ArrowType;
use basalt_codec::block::CHECKSUM_BYTES;
use basalt_codec::word::bytes_of;
use basalt_codec::{BlockEncoder, Chain, Element, Kind, Learned, Packing, Statistics};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::layout::{ColumnCodec, Effort};
use super::metadata::Bounds;
use super::string_dictionary::StringDictionary;
use super::text_bounds::TextBounds;
use super::zeros::zero_count;

/// Encodes the groups of one column.
pub(super) struct ColumnEncoder {
    codec: ColumnCodec,
    effort: Effort,
    /// An encoder for each kind of blocks, in the order in which a group has them.
    encoders: Vec<Option<BlockEncoder>>,
    /// What others have found for such blocks.
    learned: Vec<Option<Learned>>,
    next: usize,
}

/// What is known of an encoded group.
pub(super) struct Encoded {
    pub(super) statistics: Statistics,
    pub(super) zero_count: Option<u32>,
    /// Of strings that are not inside of other values.
    pub(super) text_bounds: Option<TextBounds>,
    pub(super) decoded_bytes: u64,
    /// Steps of the last block, which holds the values.
    pub(super) chain: String,
    /// Checksums of the blocks.
    pub(super) checksums: Vec<u8>,
}

impl ColumnEncoder {
    pub(super) fn new(codec: ColumnCodec, effort: Effort) -> Self {
        Self {
            codec,
            effort,
            encoders: Vec::new(),
            learned: Vec::new(),
            next: 0,
        }
    }

    /// Goes on with what another encoder of the column has found.
    #[must_use]
    pub(super) fn going_on_with(mut self, learned: Vec<Option<Learned>>) -> Self {
        self.learned = learned;
        self
    }

    /// What it has found for the blocks of a group.
    pub(super) fn learned(&self) -> Vec<Option<Learned>> {
        let learned = |encoder: &Option<BlockEncoder>| encoder.as_ref()?.learned();
        self.encoders.iter().map(learned).collect()
    }

    /// Appends the blocks of a group.
    pub(super) fn encode(
        &mut self,
        array: &ArrayRef,
        data_type: &DataType,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        self.next = 0;
        let mut encoded = Encoded {
            statistics: Statistics::default(),
            zero_count: None,
            text_bounds: None,
            decoded_bytes: 0,
            chain: String::new(),
            checksums: Vec::new(),
        };
        self.array((array, data_type), out, &mut encoded)?;
        if array.as_binary_view_opt().is_none() {
            encoded.text_bounds = None;
        }
        encoded.zero_count = match has_no_zero(array.data_type(), encoded.statistics.bounds) {
            true => Some(0),
            false => zero_count(array),
        };
        encoded.statistics.null_count = count(array.null_count())?;
        Ok(encoded)
    }

    fn array(
        &mut self,
        (array, data_type): (&ArrayRef, &DataType),
        out: &mut Vec<u8>,
        encoded: &mut Encoded,
    ) -> Result<()> {
        if data_type.is_nullable() {
            self.validity(array, out, encoded)?;
        }
        let children = children(data_type);
        match array.data_type() {
            ArrowType::BinaryView => {
                let wants_dictionary = matches!(data_type, DataType::LowCardinality(_));
                self.strings((array.as_binary_view(), wants_dictionary), out, encoded)
            }
            ArrowType::Decimal128(precision, _) => {
                let values = fixed_values(array, size_of::<i128>());
                let nulls = array.null_count();
                self.decimals((&values, *precision, nulls), out, encoded)
            }
            ArrowType::List(_) => {
                let lists = array.as_list::<i32>();
                let offsets = lists.value_offsets();
                let lengths = offsets.windows(2).map(|o| (o[1] - o[0]).cast_unsigned());
                self.lengths((&lengths.collect::<Vec<_>>(), 0), out, encoded)?;
                let elements = list_values(lists);
                match (elements.as_struct_opt(), &children[..]) {
                    // The entries of a map.
                    (Some(entries), [key, value]) => {
                        self.array((entries.column(0), key), out, encoded)?;
                        self.array((entries.column(1), value), out, encoded)
                    }
                    (_, [element]) => self.array((&elements, element), out, encoded),
                    _ => Err(Error::bug(format!("an array of {data_type}"))),
                }
            }
            ArrowType::Struct(_) => {
                let fields = array.as_struct().columns().iter();
                let mut fields = fields.zip(children);
                fields.try_for_each(|(field, child)| self.array((field, child), out, encoded))
            }
            _ => {
                let (element, width) = element(array.data_type())?;
                let values = fixed_values(array, width);
                self.block((element, array.null_count()), &values, out, encoded)?;
                if matches!(array.data_type(), ArrowType::FixedSizeBinary(_)) {
                    // Their order is not that of the numbers that blocks take them for.
                    encoded.statistics.bounds = None;
                }
                Ok(())
            }
        }
    }

    /// Digits of Decimals, in few bytes where these hold all of them.
    fn decimals(
        &mut self,
        (values, precision, num_nulls): (&Buffer, u8, usize),
        out: &mut Vec<u8>,
        encoded: &mut Encoded,
    ) -> Result<()> {
        let narrowed = match precision {
            ..=MAX_DIGITS_OF_I32 => narrowed::<i32>(values).map(Buffer::from_vec),
            _ => narrowed::<i64>(values).map(Buffer::from_vec),
        };
        if let Some(narrowed) = narrowed {
            self.block(
                (narrow_decimal(precision), num_nulls),
                &narrowed,
                out,
                encoded,
            )?;
            // The place of the encoder of wide ones.
            self.next += 1;
            return Ok(());
        }
        self.next += 1;
        self.block((wide_decimal(), num_nulls), values, out, encoded)
    }

    fn strings(
        &mut self,
        (strings, wants_dictionary): (&BinaryViewArray, bool),
        out: &mut Vec<u8>,
        encoded: &mut Encoded,
    ) -> Result<()> {
        let dictionary = match self.codec {
            _ if wants_dictionary => StringDictionary::of_any(strings),
            ColumnCodec::Auto => StringDictionary::of(strings),
            ColumnCodec::Fixed(chain) if chain.packing == Packing::Dictionary => {
                StringDictionary::of_any(strings)
            }
            ColumnCodec::Fixed(_) => None,
        };
        if let Some(dictionary) = dictionary {
            // An empty string that stands for NULL may be among them: bounds may be wider than they need be.
            encoded.text_bounds = TextBounds::of(dictionary.texts());
            let decoded_bytes = encoded.decoded_bytes;
            let code = Element::try_new(Kind::Unsigned, 2).unwrap_or(Element::BYTES);
            let codes = bytes_of(&dictionary.codes);
            self.side_block((code, strings.null_count()), codes, out, encoded)?;
            self.lengths((&dictionary.lengths, 0), out, encoded)?;
            self.block((Element::BYTES, 0), &dictionary.bytes, out, encoded)?;
            encoded.chain = format!("{}, {}", Packing::Dictionary.name(), encoded.chain);
            encoded.decoded_bytes = decoded_bytes + plain_bytes(strings);
            return Ok(());
        }
        encoded.text_bounds = TextBounds::of(strings.iter().flatten());
        // The place of the codes' encoder.
        self.next += 1;
        let mut lengths: Vec<u32> = Vec::with_capacity(strings.len());
        let mut bytes = Vec::with_capacity(strings.total_bytes_len());
        for value in strings {
            let value = value.unwrap_or_default();
            lengths.push(count(value.len())?);
            bytes.extend_from_slice(value);
        }
        self.lengths((&lengths, strings.null_count()), out, encoded)?;
        self.block((Element::BYTES, 0), &bytes, out, encoded)
    }

    /// A flag for each row, 1 = there is a value.
    fn validity(
        &mut self,
        array: &ArrayRef,
        out: &mut Vec<u8>,
        encoded: &mut Encoded,
    ) -> Result<()> {
        let flags: Vec<u8> = match array.nulls() {
            Some(nulls) => nulls.iter().map(u8::from).collect(),
            None => vec![1; array.len()],
        };
        let flag = Element::try_new(Kind::Unsigned, 1).unwrap_or(Element::BYTES);
        self.side_block((flag, 0), &flags, out, encoded)
    }

    /// Lengths, of which some stand for NULLs.
    fn lengths(
        &mut self,
        (lengths, num_nulls): (&[u32], usize),
        out: &mut Vec<u8>,
        encoded: &mut Encoded,
    ) -> Result<()> {
        let length = Element::try_new(Kind::Unsigned, 4).unwrap_or(Element::BYTES);
        self.side_block((length, num_nulls), bytes_of(lengths), out, encoded)
    }

    /// A block of what is not the values: always as looks best.
    fn side_block(
        &mut self,
        (element, num_nulls): (Element, usize),
        values: &[u8],
        out: &mut Vec<u8>,
        encoded: &mut Encoded,
    ) -> Result<()> {
        let statistics = Statistics {
            null_count: count(num_nulls)?,
            ..Statistics::default()
        };
        let block = (element, ColumnCodec::Auto, statistics);
        self.append(block, values, out, encoded)
    }

    fn block(
        &mut self,
        (element, num_nulls): (Element, usize),
        values: &[u8],
        out: &mut Vec<u8>,
        encoded: &mut Encoded,
    ) -> Result<()> {
        let mut statistics = match self.effort {
            // A merge will count different values.
            Effort::Quick => Statistics::by_sample(values, element),
            Effort::Thorough => Statistics::of(values, element),
        };
        statistics.null_count = count(num_nulls)?;
        if num_nulls > 0 && num_nulls * usize::from(element.width()) == values.len() {
            // What stands in place of the NULLs is no value.
            statistics.bounds = None;
        }
        encoded.statistics = statistics;
        self.append((element, self.codec, statistics), values, out, encoded)
    }

    fn append(
        &mut self,
        (element, codec, statistics): (Element, ColumnCodec, Statistics),
        values: &[u8],
        out: &mut Vec<u8>,
        encoded: &mut Encoded,
    ) -> Result<()> {
        let start = out.len();
        if self.encoders.len() <= self.next {
            self.encoders.resize_with(self.next + 1, || None);
        }
        let learned = self.learned.get(self.next).copied().flatten();
        let encoder = self.encoders[self.next].get_or_insert_with(|| {
            BlockEncoder::new(element, codec.codec(self.effort)).going_on_with(learned)
        });
        let chain = encoder.encode_with(values, statistics, out);
        let chain = chain.map_err(|_| {
            Error::new(
                ErrorCode::TOO_LARGE_STRING_SIZE,
                format!("A value of {} bytes is too large for a block", values.len()),
            )
        })?;
        self.next += 1;
        encoded.chain = chain.to_string();
        encoded.decoded_bytes += values.len() as u64;
        let checksum = &out[start..start + CHECKSUM_BYTES];
        encoded.checksums.extend_from_slice(checksum);
        Ok(())
    }
}

/// Bytes of strings and their lengths.
fn plain_bytes(strings: &BinaryViewArray) -> u64 {
    let lengths = strings.iter().map(|s| s.map_or(0, |s| s.len() as u64));
    lengths.sum::<u64>() + size_of::<u32>() as u64 * strings.len() as u64
}

/// The types inside a type.
pub(super) fn children(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::Array(element) => vec![element],
        DataType::Map(key, value) => vec![key, value],
        DataType::Tuple(tuple) => tuple.types.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether some of a type's values can take the steps of a chain; the others are stored without them.
pub(super) fn is_applicable(chain: Chain, data_type: &DataType) -> bool {
    match children(data_type)[..] {
        [] => {
            let physical = data_type.physical();
            let is_dictionary = chain.transform.is_none() && chain.packing == Packing::Dictionary;
            let element = match physical {
                ArrowType::BinaryView if is_dictionary => return true,
                ArrowType::Decimal128(precision, _) => Ok(narrow_decimal(precision)),
                physical => element(&physical).map(|(element, _)| element),
            };
            chain.fits(element.unwrap_or(Element::BYTES))
        }
        ref children => children.iter().any(|c| is_applicable(chain, c)),
    }
}

/// Decimal digits that any Int32 holds.
const MAX_DIGITS_OF_I32: u8 = 9;

/// What Decimals of a precision are to a block in groups without long ones.
pub(super) fn narrow_decimal(precision: u8) -> Element {
    let width = if precision <= MAX_DIGITS_OF_I32 { 4 } else { 8 };
    Element::try_new(Kind::Signed, width).unwrap_or(Element::BYTES)
}

/// What they are in the other groups.
pub(super) fn wide_decimal() -> Element {
    Element::try_new(Kind::Signed, 16).unwrap_or(Element::BYTES)
}

/// Numbers of 16 bytes in fewer bytes; none if some have no place there. Copies of columns with NULLs are bytes, which
/// need not lie as numbers do.
fn narrowed<T: TryFrom<i128>>(values: &[u8]) -> Option<Vec<T>> {
    let (numbers, _) = values.as_chunks();
    let numbers = numbers.iter().map(|bytes| i128::from_ne_bytes(*bytes));
    numbers.map(|number| T::try_from(number).ok()).collect()
}

/// What the values of a physical type are to a block, and their width in bytes.
pub(super) fn element(physical: &ArrowType) -> Result<(Element, usize)> {
    let (kind, width) = match physical {
        ArrowType::UInt8 => (Kind::Unsigned, 1),
        ArrowType::UInt16 => (Kind::Unsigned, 2),
        ArrowType::UInt32 => (Kind::Unsigned, 4),
        ArrowType::UInt64 => (Kind::Unsigned, 8),
        ArrowType::Int8 => (Kind::Signed, 1),
        ArrowType::Int16 => (Kind::Signed, 2),
        ArrowType::Int32 => (Kind::Signed, 4),
        ArrowType::Int64 => (Kind::Signed, 8),
        ArrowType::Float32 => (Kind::Float, 4),
        ArrowType::Float64 => (Kind::Float, 8),
        ArrowType::Decimal128(..) => (Kind::Signed, 16),
        ArrowType::Decimal256(..) => (Kind::Signed, 32),
        ArrowType::FixedSizeBinary(width) => {
            let width = usize::try_from(*width).unwrap_or(0);
            // As numbers they can be packed, where there are such numbers.
            let kind = match width {
                1 | 2 | 4 | 8 | 16 => Kind::Unsigned,
                _ => Kind::Bytes,
            };
            // A block's values are narrower: wider ones are bytes to it.
            let element = u16::try_from(width)
                .ok()
                .and_then(|width| Element::try_new(kind, width));
            return Ok((element.unwrap_or(Element::BYTES), width));
        }
        other => return Err(Error::bug(format!("no blocks of {other}"))),
    };
    let element = Element::try_new(kind, width).ok_or_else(|| Error::bug("no such element"))?;
    Ok((element, usize::from(width)))
}

/// Whether all of some integers are above 0 or below.
fn has_no_zero(physical: &ArrowType, bounds: Bounds) -> bool {
    let Some((least, greatest)) = bounds else {
        return false;
    };
    let is_signed = physical.is_signed_integer();
    is_signed && (least.cast_signed() > 0 || greatest.cast_signed() < 0)
        || physical.is_unsigned_integer() && least > 0
}

/// The bytes of an array's values; a NULL has the value of some other row, so that bounds and
/// encodings see no others.
fn fixed_values(array: &ArrayRef, width: usize) -> Buffer {
    let array_data = array.to_data();
    let start = array_data.offset() * width;
    let values = array_data.buffers()[0].slice_with_length(start, array.len() * width);
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return values;
    };
    let mut values = values.to_vec();
    let valid = nulls.valid_indices().next();
    let filler = valid.map_or_else(|| vec![0; width], |i| values[i * width..][..width].to_vec());
    let gaps = nulls.iter().enumerate().filter(|(_, is_valid)| !is_valid);
    for (i, _) in gaps {
        values[i * width..][..width].copy_from_slice(&filler);
    }
    Buffer::from_vec(values)
}

/// About the bytes that an array has in memory.
pub(super) fn memory_bytes(array: &ArrayRef) -> usize {
    match array.data_type() {
        ArrowType::BinaryView => value_bytes(array) + size_of::<u128>() * array.len(),
        ArrowType::List(_) => {
            let lists = array.as_list::<i32>();
            memory_bytes(&list_values(lists)) + size_of::<i32>() * array.len()
        }
        ArrowType::Struct(_) => {
            let fields = array.as_struct().columns().iter();
            fields.map(memory_bytes).sum()
        }
        _ => value_bytes(array),
    }
}

/// The elements of lists, without those before and behind.
fn list_values(lists: &ListArray) -> ArrayRef {
    let offsets = lists.value_offsets();
    let (first, last) = (offsets[0], offsets[lists.len()]);
    let [first, last] = [first, last].map(|o| usize::try_from(o).unwrap_or(0));
    lists.values().slice(first, last - first)
}

/// About the bytes that the largest block of an array will have.
pub(super) fn value_bytes(array: &ArrayRef) -> usize {
    match array.data_type() {
        ArrowType::BinaryView => {
            let views = array.as_binary_view();
            views.lengths().map(|length| length as usize).sum()
        }
        ArrowType::List(_) => {
            value_bytes(&list_values(array.as_list::<i32>())).max(4 * array.len())
        }
        ArrowType::Struct(_) => {
            let fields = array.as_struct().columns().iter();
            fields.map(value_bytes).max().unwrap_or(0)
        }
        other => element(other).map_or(0, |(_, width)| width * array.len()),
    }
}

fn count(number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| {
        Error::new(
            ErrorCode::TOO_LARGE_STRING_SIZE,
            format!("{number} is too large for a block"),
        )
    })
}
