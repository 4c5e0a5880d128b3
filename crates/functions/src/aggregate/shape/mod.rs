//! Functions that show the shape of many values in few: histograms, bars, thinned lines.

use super::AggregateFunction;

mod histogram;
mod inequality;
mod sparkbar;
mod triangles;

/// All tables of this folder.
pub(super) const TABLES: [&[AggregateFunction]; 4] = [
    histogram::FUNCTIONS,
    inequality::FUNCTIONS,
    sparkbar::FUNCTIONS,
    triangles::FUNCTIONS,
];
