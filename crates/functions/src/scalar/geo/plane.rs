//! Points in the plane: whether they lie in a polygon or in one of some ellipses.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, UInt8Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::floats;
use crate::scalar::arrays::floats::to_floats;
use crate::scalar::arrays::lists::Lists;
use crate::scalar::strings::shapes::{bad_arguments, validity_of};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "pointInPolygon",
        syntax: "pointInPolygon((x, y), [(x, y), …][, hole, …])",
        description: "Whether a point lies in a polygon or on its edge, and in none of its holes.",
        resolve: resolve_polygon,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "pointInEllipses",
        syntax: "pointInEllipses(x, y, x0, y0, a0, b0, …)",
        description: "Whether a point lies in at least one of the ellipses.",
        resolve: resolve_ellipses,
        ..ScalarFunction::BASE
    },
];

fn resolve_ellipses(call: &Call<'_>) -> Result<Resolved> {
    if call.args.len() < 6 || call.args.len() % 4 != 2 {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            "Function pointInEllipses takes two coordinates and four numbers for each ellipse",
        ));
    }
    for idx in 0..call.args.len() {
        call.expect_type(idx, |t| *t == DataType::Float64)?;
        if idx > 1 {
            call.constant(idx)?;
        }
    }
    Resolved::new(DataType::UInt8, |columns, num_rows| {
        let columns = columns.iter().map(|c| floats(c, num_rows));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let inside = (0..num_rows).map(|row| {
            let (x, y) = (columns[0][row], columns[1][row]);
            let mut ellipses = columns[2..].chunks_exact(4);
            u8::from(ellipses.any(|e| {
                let across = (x - e[0][row]) / e[2][row];
                let up = (y - e[1][row]) / e[3][row];
                across * across + up * up <= 1.0
            }))
        });
        Ok(Arc::new(UInt8Array::from_iter_values(inside)))
    })
}

/// How deep the arrays of points are nested: a ring is 1, a polygon with holes 2, polygons 3.
pub(super) fn ring_depth(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Array(element) if is_point(element) => Some(1),
        DataType::Array(element) => ring_depth(element).map(|depth| depth + 1),
        _ => None,
    }
}

fn is_point(data_type: &DataType) -> bool {
    let is_plain = |t: &DataType| t.is_integer() || t.is_float();
    matches!(data_type, DataType::Tuple(t) if t.types.len() == 2 && t.types.iter().all(is_plain))
}

fn resolve_polygon(call: &Call<'_>) -> Result<Resolved> {
    if call.args.len() < 2 {
        return Err(Error::new(
            ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
            "Function pointInPolygon takes at least 2 arguments",
        ));
    }
    call.expect_type(0, is_point)?;
    let depth = ring_depth(call.data_type(1)).filter(|depth| *depth <= 3);
    let depth = depth.ok_or_else(|| call.illegal_type(1))?;
    for idx in 2..call.args.len() {
        call.expect_type(idx, |t| ring_depth(t) == Some(1) && depth == 1)?;
    }
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let (xs, ys) = coordinates(&columns[0].array)?;
        let rings = columns[1..]
            .iter()
            .map(|column| Rings::of(column, depth))
            .collect::<Result<Vec<_>>>()?;
        let valid = validity_of(columns, num_rows);
        let mut inside = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let at = columns[0].row(row);
            let is_valid = valid.as_ref().is_none_or(|v| v.is_valid(row));
            inside.push(u8::from(is_valid && holds(&rings, row, (xs[at], ys[at]))?));
        }
        Ok(Arc::new(UInt8Array::from(inside)))
    })
}

fn coordinates(points: &ArrayRef) -> Result<(Vec<f64>, Vec<f64>)> {
    let points = points.as_struct_opt();
    let points = points.ok_or_else(|| Error::bug("a point is a struct"))?;
    Ok((
        to_floats::<f64>(points.column(0))?,
        to_floats::<f64>(points.column(1))?,
    ))
}

/// The rings of a column: for each row polygons, each its outer ring and its holes.
pub(super) struct Rings {
    levels: Vec<Vec<(usize, usize)>>,
    is_const: bool,
    points: Vec<(f64, f64)>,
}

impl Rings {
    /// The rings in arrays of points of that depth.
    pub(super) fn of(column: &Column, depth: usize) -> Result<Self> {
        let mut levels = Vec::new();
        let mut array = Arc::clone(&column.array);
        for _ in 0..depth {
            let len = arrow::array::Array::len(&array);
            let values = {
                let lists = Lists::of_array(&array)?;
                let bounds = |row| (lists.range(row).start, lists.range(row).end);
                levels.push((0..len).map(bounds).collect());
                Arc::clone(lists.values())
            };
            array = values;
        }
        let (xs, ys) = coordinates(&array)?;
        Ok(Self {
            levels,
            is_const: column.is_const,
            points: xs.into_iter().zip(ys).collect(),
        })
    }

    /// The polygons of a row, each a list of rings.
    pub(super) fn polygons(&self, row: usize) -> Vec<Vec<&[(f64, f64)]>> {
        let row = if self.is_const { 0 } else { row };
        let range = |level: usize, idx: usize| {
            let (start, end) = self.levels[level][idx];
            start..end
        };
        let ring = |level: usize, idx: usize| &self.points[range(level, idx)];
        match self.levels.len() {
            1 => vec![vec![ring(0, row)]],
            2 => vec![range(0, row).map(|i| ring(1, i)).collect()],
            _ => {
                let polygons = range(0, row);
                polygons
                    .map(|p| range(1, p).map(|i| ring(2, i)).collect())
                    .collect()
            }
        }
    }
}

/// Whether the first ring holds the point and no further one does.
fn holds(rings: &[Rings], row: usize, point: (f64, f64)) -> Result<bool> {
    let mut polygons = rings.first().map_or_else(Vec::new, |r| r.polygons(row));
    if let (Some(first), [_, holes @ ..]) = (polygons.first_mut(), rings) {
        first.extend(
            holes
                .iter()
                .flat_map(|h| h.polygons(row).into_iter().flatten()),
        );
    }
    let mut found = false;
    for polygon in polygons {
        if polygon.iter().any(|ring| ring.len() < 3) {
            return Err(bad_arguments(
                "Polygon is not valid: a ring has at least three points",
            ));
        }
        let mut rings = polygon.into_iter().map(|ring| side(ring, point));
        let in_outer = rings.next().is_some_and(|side| side != Side::Outside);
        found |= in_outer && rings.all(|side| side != Side::Inside);
    }
    Ok(found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Outside,
    Edge,
    Inside,
}

/// Where a point lies, by the number of edges to the right of it.
fn side(ring: &[(f64, f64)], (x, y): (f64, f64)) -> Side {
    let next = ring.iter().cycle().skip(1);
    let mut is_inside = false;
    for ((x1, y1), (x2, y2)) in ring.iter().copied().zip(next.copied()) {
        let cross = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
        let in_box = x >= x1.min(x2) && x <= x1.max(x2) && y >= y1.min(y2) && y <= y1.max(y2);
        if cross == 0.0 && in_box {
            return Side::Edge;
        }
        if (y1 > y) != (y2 > y) && (cross > 0.0) == (y2 > y1) {
            is_inside = !is_inside;
        }
    }
    if is_inside {
        Side::Inside
    } else {
        Side::Outside
    }
}
