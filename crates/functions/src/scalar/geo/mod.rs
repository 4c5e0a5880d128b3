//! Functions of places on the earth and of points in the plane.
//!
//! | module | owns |
//! |---|---|
//! | [`area`] | `polygonAreaCartesian`, `polygonPerimeterCartesian` |
//! | [`distance`] | `greatCircleDistance`, `geoDistance`, `greatCircleAngle` |
//! | [`geohash`] | geohashes to and from coordinates |
//! | [`plane`] | `pointInPolygon`, `pointInEllipses` |

pub mod area;
pub mod distance;
pub mod geohash;
pub mod plane;

use basalt_error::Result;

use crate::Column;
use crate::scalar::core::numeric::{map1, values};

/// The numbers of a column as floats, one for each row.
fn floats(column: &Column, num_rows: usize) -> Result<Vec<f64>> {
    let array = map1::<f64, f64>(column, num_rows, |x| x)?;
    Ok(values::<f64>(array.as_ref())?.to_vec())
}
