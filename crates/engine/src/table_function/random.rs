//! Generates random rows: `generateRandom`.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Schema, SchemaRef};
use basalt_analyzer::TableEntry;
use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::scan::{BatchIter, MorselSource, ScanRequest, SourceTable, TableKind};
use basalt_types::builder::NestedMut;
use basalt_types::parse::parse_structure;
use basalt_types::{ColumnBuilder, DataType};

use super::arguments::Arguments;
use super::structure::Structure;

/// Rows of a batch.
const BATCH_ROWS: usize = 8_192;

/// `generateRandom(structure[, seed[, max_string_length[, max_array_length]]])`.
pub(super) fn call(args: &Arguments<'_>) -> Result<TableEntry> {
    if !(1..=4).contains(&args.len()) {
        return Err(args.wrong_number("1 to 4"));
    }
    let columns = Structure::plain(parse_structure(&args.text(0)?)?).columns;
    let fields: Vec<_> = columns.iter().map(|c| c.data_type.field(&c.name)).collect();
    let number = |idx: usize, default: u64| {
        if idx < args.len() && args.all()[idx].data_type.is_number() {
            args.u64(idx)
        } else {
            Ok(default)
        }
    };
    let now = u64::from_ne_bytes(args.environment.context.now_ns.to_ne_bytes());
    let table = RandomTable {
        schema: Arc::new(Schema::new(fields)),
        types: columns.iter().map(|c| c.data_type.clone()).collect(),
        seed: number(1, now)?,
        max_string_len: number(2, 10)?,
        max_array_len: number(3, 10)?,
    };
    Ok(TableEntry::Table {
        provider: Arc::new(SourceTable(table)),
        columns,
    })
}

#[derive(Clone, Debug)]
struct RandomTable {
    schema: SchemaRef,
    types: Vec<DataType>,
    seed: u64,
    max_string_len: u64,
    max_array_len: u64,
}

impl TableKind for RandomTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let schema = self.schema.project(&request.projection);
        Ok(Arc::new(RandomSource {
            table: self.clone(),
            projection: request.projection.clone(),
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
        }))
    }
}

#[derive(Debug)]
struct RandomSource {
    table: RandomTable,
    projection: Vec<usize>,
    schema: SchemaRef,
}

impl MorselSource for RandomSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        1
    }

    fn open(&self, _morsel: usize) -> Result<BatchIter> {
        let (table, schema) = (self.table.clone(), Arc::clone(&self.schema));
        let projection = self.projection.clone();
        let mut number = 0_u64;
        Ok(Box::new(std::iter::from_fn(move || {
            number += 1;
            Some(table.batch(number, &projection, &schema))
        })))
    }

    fn num_rows(&self) -> Option<usize> {
        None
    }

    fn describe(&self) -> String {
        "random rows".to_owned()
    }
}

impl RandomTable {
    /// Batch `number`; a column is the same whichever others are read.
    fn batch(&self, number: u64, projection: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(projection.len());
        for idx in projection {
            let mut random = Random(self.seed ^ (number << 16) ^ (*idx as u64));
            random.next();
            let mut builder = ColumnBuilder::new(&self.types[*idx], BATCH_ROWS)?;
            for _ in 0..BATCH_ROWS {
                self.append(&mut builder, &mut random)?;
            }
            columns.push(builder.finish()?);
        }
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(BATCH_ROWS));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
            .map_err(|e| Error::bug(e.to_string()))
    }

    /// Appends a random value: all bits random for fixed sizes, some printable text for strings.
    fn append(&self, builder: &mut ColumnBuilder, random: &mut Random) -> Result<()> {
        if builder.is_nullable() && random.below(16) == 0 {
            builder.append_null();
            return Ok(());
        }
        let data_type = builder.data_type().base().clone();
        let len = random.below(self.max_array_len + 1);
        match (&data_type, builder.nested()) {
            (_, Some(NestedMut::Array(elements))) => {
                for _ in 0..len {
                    self.append(elements, random)?;
                }
                return builder.finish_nested();
            }
            (_, Some(NestedMut::Tuple(elements))) => {
                for element in elements {
                    self.append(element, random)?;
                }
                return builder.finish_nested();
            }
            (_, Some(NestedMut::Map(pair))) => {
                for _ in 0..len {
                    for part in pair.iter_mut() {
                        self.append(part, random)?;
                    }
                }
                return builder.finish_nested();
            }
            _ => {}
        }
        match &data_type {
            DataType::String => {
                let len = random.below(self.max_string_len + 1);
                let text: Vec<u8> = (0..len).map(|_| b' ' + (random.below(95) as u8)).collect();
                builder.append_text(&text)
            }
            DataType::Bool => builder.append_text(if random.below(2) == 0 { b"0" } else { b"1" }),
            DataType::Enum8(values) | DataType::Enum16(values) => {
                let values = values.values();
                let idx = usize::try_from(random.below(values.len() as u64)).unwrap_or(0);
                let name = values[idx].0.clone();
                builder.append_text(name.as_bytes())
            }
            fixed => match fixed.fixed_size_bytes() {
                Some(size) => {
                    let mut bytes = vec![0; size];
                    bytes.fill_with(|| random.below(256) as u8);
                    builder.append_raw(&in_range(fixed, bytes))
                }
                None => Err(Error::new(
                    ErrorCode::NOT_IMPLEMENTED,
                    format!("generateRandom of type {fixed} is not supported yet"),
                )),
            },
        }
    }
}

/// Days of 1900 to 2299, the range of Date32 and DateTime64.
const FIRST_DAY: i64 = -25_567;
const NUM_DAYS: i64 = 146_097;

/// Random bytes as a value of the type: within its range, as wide as the array's values are.
fn in_range(data_type: &DataType, mut bytes: Vec<u8>) -> Vec<u8> {
    let number = || {
        let mut wide = [0; 8];
        wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        i64::from_le_bytes(wide)
    };
    match data_type {
        DataType::Date32 => {
            let days = FIRST_DAY + number().rem_euclid(NUM_DAYS);
            bytes.copy_from_slice(&days.to_le_bytes()[..4]);
        }
        DataType::DateTime64(precision, _) => {
            let day = 86_400_i64.saturating_mul(10_i64.pow(u32::from((*precision).min(9))));
            let first = FIRST_DAY.saturating_mul(day);
            let ticks = first.saturating_add(number().rem_euclid(NUM_DAYS.saturating_mul(day)));
            bytes.copy_from_slice(&ticks.to_le_bytes());
        }
        DataType::Decimal { precision, .. } => {
            let is_negative = bytes.last().is_some_and(|b| *b >= 0x80);
            let width = if *precision <= 38 { 16 } else { 32 };
            bytes.resize(width, if is_negative { 0xff } else { 0 });
        }
        _ => {}
    }
    bytes
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to below `bound`, which is not 0.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
