//! Areas and perimeters of polygons in the plane.
//!
//! As in ClickHouse, whose rings are closed by their last point: a ring that is left open lacks its last
//! edge, and has no area at all if it has fewer than four points. An outer ring is positive if it goes round
//! clockwise, its holes the other way.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::plane::{Rings, ring_depth};
use crate::scalar::core::numeric::array_of;
use crate::{Call, Resolved, ScalarFunction};

/// Least points of a closed ring.
const RING_POINTS: usize = 4;

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "polygonAreaCartesian",
        aliases: &["areaCartesian"],
        syntax: "polygonAreaCartesian(polygon)",
        description: "The area of a ring, a polygon with holes or of several polygons in the plane.",
        resolve: |call| resolve(call, area),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "polygonPerimeterCartesian",
        aliases: &["perimeterCartesian"],
        syntax: "polygonPerimeterCartesian(polygon)",
        description: "The length of the edges of a ring, a polygon with holes or of several polygons in the plane.",
        resolve: |call| resolve(call, perimeter),
        ..ScalarFunction::BASE
    },
];

type Points = [(f64, f64)];

/// A loop that adds up the measures of all rings.
fn resolve(call: &Call<'_>, measure: fn(&Points) -> f64) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let depth =
        ring_depth(call.data_type(0)).filter(|depth| *depth <= 3 && of_floats(call.data_type(0)));
    let depth = depth.ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Give function {} a ring, a polygon or several of them as arrays of \
                 Tuple(Float64, Float64): unknown geometry type {}",
                call.name,
                call.data_type(0)
            ),
        )
    })?;
    Resolved::new(DataType::Float64, move |columns, num_rows| {
        let rings = Rings::of(&columns[0], depth)?;
        let of_row = |row| {
            let polygons = rings.polygons(row).into_iter();
            polygons.fold(0.0, |sum, polygon| {
                sum + polygon
                    .into_iter()
                    .fold(0.0, |sum, ring| sum + measure(ring))
            })
        };
        Ok(array_of((0..num_rows).map(of_row).collect::<Vec<f64>>()) as ArrayRef)
    })
}

fn of_floats(data_type: &DataType) -> bool {
    match data_type {
        DataType::Array(element) => of_floats(element),
        DataType::Tuple(point) => point.types.iter().all(|t| *t == DataType::Float64),
        _ => false,
    }
}

fn edges(ring: &Points) -> impl Iterator<Item = ((f64, f64), (f64, f64))> {
    ring.windows(2).map(|edge| (edge[0], edge[1]))
}

fn area(ring: &Points) -> f64 {
    if ring.len() < RING_POINTS {
        return 0.0;
    }
    let trapezoids = edges(ring).fold(0.0, |sum, ((x1, y1), (x2, y2))| sum + (x1 + x2) * (y1 - y2));
    trapezoids / 2.0
}

fn perimeter(ring: &Points) -> f64 {
    edges(ring).fold(0.0, |sum, ((x1, y1), (x2, y2))| {
        let (across, up) = (x2 - x1, y2 - y1);
        sum + (across * across + up * up).sqrt()
    })
}
