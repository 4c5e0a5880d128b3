//! Names the tables that can be generated.

use std::str::FromStr;

use basalt_error::{Error, ErrorCode, Result};

use crate::bench::{Abc, Dbl, Hits as BenchHits, Trips as BenchTrips};
use crate::column::Source;
use crate::hits::Visits;
use crate::trips::Rides;

/// A table that can be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Web analytics: ClickBench's 105 columns.
    Hits,
    /// Taxi trips.
    Trips,
    /// One nullable column of doubles.
    BenchDbl,
    /// A byte key and an amount.
    BenchTrips,
    /// Seven columns in the manner of `hits`.
    BenchHits,
    /// Three columns of integers.
    BenchAbc,
}

impl Kind {
    /// Every kind, the ones for people first.
    pub const ALL: &'static [Kind] = &[
        Kind::Hits,
        Kind::Trips,
        Kind::BenchDbl,
        Kind::BenchTrips,
        Kind::BenchHits,
        Kind::BenchAbc,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hits => "hits",
            Self::Trips => "trips",
            Self::BenchDbl => "bench_dbl",
            Self::BenchTrips => "bench_trips",
            Self::BenchHits => "bench_hits",
            Self::BenchAbc => "bench_abc",
        }
    }

    /// What the table is, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Hits => {
                "web page views with ClickBench's 105 columns, clustered by site and time"
            }
            Self::Trips => "taxi trips: time, place, distance, passengers, fare, tip, total",
            Self::BenchDbl => "x Nullable(Float64), 5 % of it NULL",
            Self::BenchTrips => "passenger_count of ten values and total_amount, nothing else",
            Self::BenchHits => {
                "seven columns in the manner of hits, unclustered, with random WatchID"
            }
            Self::BenchAbc => "a and b below 1000, c below 2^40, all uniform",
        }
    }

    /// Names of the columns and the types that ClickHouse gives them when it reads the file.
    pub fn columns(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Hits => columns::<Visits>(),
            Self::Trips => columns::<Rides>(),
            Self::BenchDbl => columns::<Dbl>(),
            Self::BenchTrips => columns::<BenchTrips>(),
            Self::BenchHits => columns::<BenchHits>(),
            Self::BenchAbc => columns::<Abc>(),
        }
    }
}

fn columns<S: Source>() -> Vec<(&'static str, &'static str)> {
    S::COLUMNS
        .iter()
        .map(|column| (column.name, column.fill.type_name()))
        .collect()
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            let text = format!(
                "Choose one of {}; there is no table {name:?}",
                names.join(", ")
            );
            Error::new(ErrorCode::BAD_ARGUMENTS, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Kind;

    #[test]
    fn names_parse_back_and_others_are_errors_that_list_them() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse::<Kind>(), Ok(*kind));
        }
        let error = "hit".parse::<Kind>().unwrap_err();
        assert_eq!(error.code().number, 36);
        assert!(error.message().contains("hits, trips"), "{error}");
    }

    #[test]
    fn hits_has_the_columns_of_clickbench() {
        let columns = Kind::Hits.columns();
        let names: HashSet<&str> = columns.iter().map(|(name, _)| *name).collect();
        assert_eq!((columns.len(), names.len()), (105, 105));
        assert_eq!(columns[0], ("WatchID", "Int64"));
        assert_eq!(columns[4], ("EventTime", "DateTime64(3, 'UTC')"));
        assert_eq!(columns[104], ("CLID", "Int32"));
    }
}
