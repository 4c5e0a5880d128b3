//! Geohashes: texts of base 32 whose digits halve a map of the earth, longitude first.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::floats;
use crate::scalar::arrays::lists::struct_of;
use crate::scalar::strings::output::{StringWriter, offset_of};
use crate::scalar::strings::shapes::{Ints, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "geohashEncode",
        syntax: "geohashEncode(longitude, latitude[, precision])",
        description: "The geohash of a place, of 12 characters unless a precision says otherwise.",
        resolve: resolve_encode,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "geohashDecode",
        syntax: "geohashDecode(geohash)",
        description: "Longitude and latitude of the middle of a geohash.",
        resolve: resolve_decode,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "geohashesInBox",
        syntax: "geohashesInBox(lon_min, lat_min, lon_max, lat_max, precision)",
        description: "The geohashes of that precision that touch a box.",
        resolve: resolve_box,
        ..ScalarFunction::BASE
    },
];

const DIGITS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

const MAX_PRECISION: i64 = 12;

/// Most geohashes of one box.
const MAX_BOX: u128 = 10_000_000;

/// Bits of longitude and of latitude in a geohash of so many digits.
fn bits_of(precision: u32) -> (u32, u32) {
    let bits = precision * 5;
    (bits.div_ceil(2), bits / 2)
}

/// The step of `bits` halvings of the range that a coordinate lies in.
fn step_of(value: f64, (min, max): (f64, f64), bits: u32) -> u64 {
    let share = (value - min) / (max - min);
    let steps = 2_f64.powi(bits as i32);
    // A cast from float to integer saturates; the last step ends at the upper bound.
    ((share * steps).floor().max(0.0) as u64).min((1 << bits) - 1)
}

const LONGITUDES: (f64, f64) = (-180.0, 180.0);
const LATITUDES: (f64, f64) = (-90.0, 90.0);

fn push_digits(longitude: u64, latitude: u64, precision: u32, out: &mut Vec<u8>) {
    let (lon_bits, lat_bits) = bits_of(precision);
    let (mut lon_left, mut lat_left) = (lon_bits, lat_bits);
    for digit in 0..precision {
        let mut number = 0;
        for bit in 0..5 {
            let is_longitude = (digit * 5 + bit) % 2 == 0;
            let (value, left) = if is_longitude {
                (longitude, &mut lon_left)
            } else {
                (latitude, &mut lat_left)
            };
            *left -= 1;
            number = number << 1 | (value >> *left & 1) as usize;
        }
        out.push(DIGITS[number]);
    }
}

/// The precision that an optional argument gives; outside of 1 to 12 it is 12.
fn precision_of(precision: Option<i64>) -> u32 {
    match precision {
        Some(precision @ 1..=MAX_PRECISION) => precision as u32,
        _ => MAX_PRECISION as u32,
    }
}

fn resolve_encode(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    call.expect_type(0, DataType::is_float)?;
    call.expect_type(1, DataType::is_float)?;
    if call.args.len() > 2 {
        call.expect_type(2, DataType::is_integer)?;
    }
    Resolved::new(DataType::String, |columns, num_rows| {
        let longitudes = floats(&columns[0], num_rows)?;
        let latitudes = floats(&columns[1], num_rows)?;
        let precisions = columns.get(2).map(Ints::new).transpose()?;
        write_rows(columns, num_rows, |row, out| {
            let precision = precision_of(precisions.as_ref().map(|p| p.value(row)));
            let (longitude, latitude) = (longitudes[row], latitudes[row]);
            let (lon_bits, lat_bits) = bits_of(precision);
            let lon = step_of(longitude, LONGITUDES, lon_bits);
            let lat = step_of(latitude, LATITUDES, lat_bits);
            push_digits(lon, lat, precision, out);
            Ok(())
        })
    })
}

fn decode(geohash: &[u8]) -> (f64, f64) {
    let geohash = &geohash[..geohash.len().min(MAX_PRECISION as usize)];
    if geohash.is_empty() {
        return (0.0, 0.0);
    }
    let (mut longitude, mut latitude) = (0_u64, 0_u64);
    let mut is_longitude = true;
    for c in geohash {
        // What is no digit counts as the last one.
        let digit = DIGITS.iter().position(|d| d == c).unwrap_or(31);
        for bit in (0..5).rev() {
            let value = if is_longitude {
                &mut longitude
            } else {
                &mut latitude
            };
            *value = *value << 1 | (digit as u64 >> bit & 1);
            is_longitude = !is_longitude;
        }
    }
    let (lon_bits, lat_bits) = bits_of(geohash.len() as u32);
    let middle = |step: u64, bits: u32, (min, max): (f64, f64)| {
        min + (max - min) * (step as f64 + 0.5) / 2_f64.powi(bits as i32)
    };
    (
        middle(longitude, lon_bits, LONGITUDES),
        middle(latitude, lat_bits, LATITUDES),
    )
}

fn resolve_decode(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_string)?;
    let tuple = DataType::Tuple(Arc::new(basalt_types::TupleType {
        types: vec![DataType::Float64, DataType::Float64],
        names: vec!["longitude".to_owned(), "latitude".to_owned()],
    }));
    let physical = tuple.physical();
    Resolved::new(tuple, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let places = (0..num_rows).map(|row| {
            let value = strings.value(row);
            decode(value.split(|b| *b == 0).next().unwrap_or(value))
        });
        let (longitudes, latitudes): (Vec<f64>, Vec<f64>) = places.unzip();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Float64Array::from(longitudes)),
            Arc::new(Float64Array::from(latitudes)),
        ];
        struct_of(&physical, columns, num_rows)
    })
}

fn resolve_box(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(5..=5)?;
    let first = call.data_type(0).clone();
    (0..4).try_for_each(|idx| call.expect_type(idx, |t| t.is_float() && *t == first))?;
    call.expect_type(4, |t| *t == DataType::UInt8)?;
    Resolved::new(DataType::array(DataType::String), |columns, num_rows| {
        let bounds = columns[..4].iter().map(|c| floats(c, num_rows));
        let bounds = bounds.collect::<Result<Vec<_>>>()?;
        let precisions = Ints::new(&columns[4])?;
        let mut writer = StringWriter::default();
        let mut offsets = vec![0];
        for row in 0..num_rows {
            let precision = precision_of(Some(precisions.value(row)));
            let bounds = std::array::from_fn(|i| bounds[i][row]);
            push_box(bounds, precision, &mut writer)?;
            offsets.push(offset_of(writer.len())?);
        }
        writer.finish_lists(offsets)
    })
}

fn push_box(bounds: [f64; 4], precision: u32, writer: &mut StringWriter) -> Result<()> {
    if bounds.iter().any(|b| b.is_nan()) {
        return Ok(());
    }
    let [lon_min, lat_min, lon_max, lat_max] = bounds;
    let clamp = |v: f64, (min, max): (f64, f64)| v.clamp(min, max);
    let (lon_bits, lat_bits) = bits_of(precision);
    let lon = |v: f64| step_of(clamp(v, LONGITUDES), LONGITUDES, lon_bits);
    let lat = |v: f64| step_of(clamp(v, LATITUDES), LATITUDES, lat_bits);
    if lon_max < lon_min || lat_max < lat_min {
        return Ok(());
    }
    let (lons, lats) = (lon(lon_min)..=lon(lon_max), lat(lat_min)..=lat(lat_max));
    let len = |r: &std::ops::RangeInclusive<u64>| u128::from(r.end() - r.start()) + 1;
    let count = len(&lons) * len(&lats);
    if count > MAX_BOX {
        return Err(Error::new(
            ErrorCode::TOO_LARGE_ARRAY_SIZE,
            format!("geohashesInBox would give {count} elements, more than {MAX_BOX}"),
        ));
    }
    for longitude in lons {
        for latitude in lats.clone() {
            push_digits(longitude, latitude, precision, writer.bytes());
            writer.finish_row()?;
        }
    }
    Ok(())
}
