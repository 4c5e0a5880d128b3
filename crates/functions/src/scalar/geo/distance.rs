//! Distances between places given by longitude and latitude in degrees.
//!
//! They are those of ClickHouse to the last digit, and so are its approximations: sines, cosines
//! and arc sines are read from tables with linear interpolation, and places less than 13 degrees
//! of longitude apart are measured on a plane whose scale depends on the latitude between them.

use std::f64::consts::PI;
use std::sync::LazyLock;

use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::arrays::floats::Float;
use crate::scalar::core::numeric::{FromNum, array_of, map1, values};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "greatCircleDistance",
        syntax: "greatCircleDistance(lon1, lat1, lon2, lat2)",
        description: "Metres between two places on a sphere of the earth's size.",
        resolve: |call| resolve(call, Surface::Sphere),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "geoDistance",
        syntax: "geoDistance(lon1, lat1, lon2, lat2)",
        description: "Metres between two places on the ellipsoid WGS-84.",
        resolve: |call| resolve(call, Surface::Ellipsoid),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "greatCircleAngle",
        syntax: "greatCircleAngle(lon1, lat1, lon2, lat2)",
        description: "Degrees between two places, seen from the middle of the earth.",
        resolve: |call| resolve(call, Surface::Angle),
        ..ScalarFunction::BASE
    },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Surface {
    Sphere,
    Ellipsoid,
    Angle,
}

/// Twice the radius of the sphere that has the ellipsoid's surface.
const EARTH_DIAMETER: f64 = 2.0 * 6_371_007.180_918_474;

/// Steps of the cosine's table for a full turn.
const COS_STEPS: usize = 1024;

/// Steps of the table of `asin(sqrt(x))` for x from 0 to 1.
const ASIN_STEPS: usize = 512;

/// Steps of the tables by latitude, from -90 to 90 degrees.
const METRIC_STEPS: usize = 1024;

/// Above this difference of longitudes the plane is too rough.
const PLANE_DEGREES: f64 = 13.0;

/// What is looked up, in the precision in which it is computed.
struct Tables<F> {
    cos: Vec<F>,
    asin_sqrt: Vec<F>,
    /// Squared metres a degree of latitude and of longitude, by surface.
    ellipsoid: [Vec<F>; 2],
    sphere: Vec<F>,
    angle: Vec<F>,
}

impl<F: Float> Tables<F> {
    fn new() -> Self {
        let by_latitude = |f: fn(f64) -> f64| -> Vec<F> {
            let latitude = |i: usize| i as f64 * (PI / METRIC_STEPS as f64) - PI * 0.5;
            (0..=METRIC_STEPS).map(|i| F::of(f(latitude(i)))).collect()
        };
        let turn = |i: usize| 2.0 * PI * i as f64 / COS_STEPS as f64;
        let share = |i: usize| (i as f64 / ASIN_STEPS as f64).sqrt().asin();
        Self {
            cos: (0..=COS_STEPS).map(|i| F::of(turn(i).cos())).collect(),
            asin_sqrt: (0..=ASIN_STEPS).map(|i| F::of(share(i))).collect(),
            ellipsoid: [
                by_latitude(|x| {
                    (111_132.09 - 566.05 * (2.0 * x).cos() + 1.20 * (4.0 * x).cos()).powi(2)
                }),
                by_latitude(|x| {
                    let first = 111_415.13 * x.cos();
                    (first - 94.55 * (3.0 * x).cos() + 0.12 * (5.0 * x).cos()).powi(2)
                }),
            ],
            sphere: by_latitude(|x| (EARTH_DIAMETER * PI / 360.0 * x.cos()).powi(2)),
            angle: by_latitude(|x| x.cos().powi(2)),
        }
    }

    /// The cosine of an angle that is `shift` steps of the table smaller.
    fn cos(&self, angle: F, shift: usize) -> F {
        let position = Float::abs(angle) * F::of(COS_STEPS as f64 / PI / 2.0);
        let index = index_of(position);
        let rest = position - F::of(index as f64);
        let index = (index + COS_STEPS - shift) % COS_STEPS;
        between(&self.cos, index, rest)
    }

    fn sin(&self, angle: F) -> F {
        self.cos(angle, COS_STEPS / 4)
    }

    fn asin_sqrt(&self, x: F) -> f64 {
        if x < F::of(0.122) {
            // The first terms of the series.
            let root = Float::sqrt(x);
            return root.to_f64()
                + (x * root).to_f64() * 0.166_666_666_666_666
                + (x * x * root).to_f64() * 0.075
                + (x * x * x * root).to_f64() * 0.044_642_857_142_857;
        }
        if x < F::of(0.948) {
            let position = x * F::of(ASIN_STEPS as f64);
            let index = index_of(position);
            return between(&self.asin_sqrt, index, position - F::of(index as f64)).to_f64();
        }
        Float::sqrt(x).to_f64().asin()
    }

    fn distance(&self, surface: Surface, [lon1, lat1, lon2, lat2]: [F; 4]) -> F {
        let lat_diff = degrees_between(lat1, lat2);
        let lon_diff = degrees_between(lon1, lon2);
        if lon_diff < F::of(PLANE_DEGREES) {
            let middle = (lat1 + lat2 + F::of(180.0)) * F::of(METRIC_STEPS as f64 / 360.0);
            let index = index_of(middle) % METRIC_STEPS;
            let at = |table: &[F]| between(table, index, middle - F::of(index as f64));
            let (lat_scale, lon_scale) = match surface {
                Surface::Angle => (F::of(1.0), at(&self.angle)),
                Surface::Sphere => {
                    let metres = F::of((EARTH_DIAMETER * PI / 360.0).powi(2));
                    (metres, at(&self.sphere))
                }
                Surface::Ellipsoid => (at(&self.ellipsoid[0]), at(&self.ellipsoid[1])),
            };
            let square = lat_scale * lat_diff * lat_diff + lon_scale * lon_diff * lon_diff;
            return Float::sqrt(square);
        }
        let (degree, half) = (F::of(PI / 180.0), F::of(PI / 360.0));
        let (lat_sin, lon_sin) = (self.sin(lat_diff * half), self.sin(lon_diff * half));
        let cosines = self.cos(lat1 * degree, 0) * self.cos(lat2 * degree, 0);
        let haversine = lat_sin * lat_sin + cosines * (lon_sin * lon_sin);
        let scale = if surface == Surface::Angle {
            360.0 / PI
        } else {
            EARTH_DIAMETER
        };
        F::of(scale * self.asin_sqrt(haversine))
    }
}

/// The step of a table below a position; 0 for NaN.
fn index_of<F: Float>(position: F) -> usize {
    // The cast makes 0 of NaN and of what is negative.
    position.to_f64().min(1e9) as usize
}

fn between<F: Float>(table: &[F], index: usize, rest: F) -> F {
    table[index] + (table[index + 1] - table[index]) * rest
}

fn degrees_between<F: Float>(a: F, b: F) -> F {
    let difference = Float::abs(a - b);
    if difference > F::of(180.0) {
        F::of(360.0) - difference
    } else {
        difference
    }
}

static NARROW: LazyLock<Tables<f32>> = LazyLock::new(Tables::new);
static WIDE: LazyLock<Tables<f64>> = LazyLock::new(Tables::new);

fn resolve(call: &Call<'_>, surface: Surface) -> Result<Resolved> {
    call.expect_args(4..=4)?;
    (0..4).try_for_each(|idx| call.expect_type(idx, DataType::is_number))?;
    let is_wide = call.args.iter().any(|a| a.data_type == DataType::Float64);
    if is_wide {
        return Resolved::new(DataType::Float64, move |columns, num_rows| {
            rows::<f64>(&WIDE, surface, columns, num_rows)
        });
    }
    Resolved::new(DataType::Float32, move |columns, num_rows| {
        rows::<f32>(&NARROW, surface, columns, num_rows)
    })
}

fn rows<F: Float + FromNum<F>>(
    tables: &Tables<F>,
    surface: Surface,
    columns: &[crate::Column],
    num_rows: usize,
) -> Result<arrow::array::ArrayRef> {
    let columns = columns.iter().map(|column| {
        let column = crate::scalar::core::decimals::to_float(column)?;
        map1::<F, F>(&column, num_rows, |x| x)
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let slices = columns.iter().map(|c| values::<F>(c.as_ref()));
    let slices = slices.collect::<Result<Vec<_>>>()?;
    let distance = |row| tables.distance(surface, std::array::from_fn(|i| slices[i][row]));
    Ok(array_of((0..num_rows).map(distance).collect::<Vec<F>>()))
}
