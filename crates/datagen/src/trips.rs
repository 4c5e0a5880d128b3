//! Makes taxi trips in the order of their pick-up, over three years.
//!
//! Distances fall off with length, the fare follows distance and time, and `total_amount` is the sum of its parts.

use crate::bench::PASSENGERS;
use crate::column::{Column, Fill, Piece, Source};
use crate::random::{Random, draw};

/// 2013-01-01, and the seconds until 2016-01-01.
const START: u32 = 1_356_998_400;
const SPAN: f64 = 1095.0 * 86_400.0;

/// Neighbourhoods with the middle of each: name, longitude, latitude, share of trips.
const PLACES: &[(Place, u32)] = &[
    (Place("Midtown-Midtown South", -73.985, 40.753), 160),
    (
        Place(
            "Hudson Yards-Chelsea-Flatiron-Union Square",
            -73.999,
            40.745,
        ),
        120,
    ),
    (Place("Upper East Side-Carnegie Hill", -73.960, 40.776), 80),
    (Place("West Village", -74.004, 40.733), 70),
    (Place("Turtle Bay-East Midtown", -73.968, 40.755), 70),
    (Place("Upper West Side", -73.978, 40.787), 65),
    (
        Place("SoHo-TriBeCa-Civic Center-Little Italy", -74.003, 40.721),
        60,
    ),
    (Place("Murray Hill-Kips Bay", -73.978, 40.745), 55),
    (Place("Lincoln Square", -73.984, 40.773), 50),
    (Place("Clinton", -73.992, 40.763), 50),
    (Place("East Village", -73.983, 40.727), 40),
    (Place("Lenox Hill-Roosevelt Island", -73.959, 40.766), 40),
    (Place("Gramercy", -73.984, 40.737), 35),
    (Place("Yorkville", -73.950, 40.777), 30),
    (
        Place("Battery Park City-Lower Manhattan", -74.012, 40.708),
        30,
    ),
    (Place("Airport LaGuardia", -73.873, 40.774), 25),
    (Place("Airport John F. Kennedy", -73.786, 40.645), 20),
    (Place("Chinatown", -73.995, 40.715), 15),
    (Place("Lower East Side", -73.985, 40.716), 12),
    (Place("East Harlem South", -73.944, 40.794), 12),
    (Place("Central Harlem South", -73.950, 40.804), 10),
    (Place("Morningside Heights", -73.962, 40.810), 10),
    (Place("North Side-South Side", -73.957, 40.716), 10),
    (
        Place("Hunters Point-Sunnyside-West Maspeth", -73.938, 40.743),
        8,
    ),
    (Place("Astoria", -73.921, 40.768), 8),
    (Place("Brooklyn Heights-Cobble Hill", -73.995, 40.693), 7),
    (Place("Park Slope-Gowanus", -73.982, 40.672), 6),
    (Place("Fort Greene", -73.974, 40.690), 5),
    (Place("Washington Heights South", -73.941, 40.841), 4),
    (Place("Bushwick South", -73.921, 40.697), 3),
    (Place("", 0.0, 0.0), 10),
];

#[derive(Clone, Copy)]
struct Place(&'static str, f32, f32);

/// Makes the trips of a piece.
pub(crate) struct Rides {
    piece: Piece,
    row: u64,
    passengers: Slots,
    places: Slots,
}

/// Draws from a table of weights in constant time: each value has as many slots as its share.
struct Slots {
    slots: Vec<u8>,
}

impl Slots {
    fn new<T>(table: &[(T, u32)]) -> Self {
        let slots = table
            .iter()
            .zip(0_u8..)
            .flat_map(|((_, weight), index)| std::iter::repeat_n(index, *weight as usize));
        Self {
            slots: slots.collect(),
        }
    }

    fn draw(&self, random: &mut Random) -> usize {
        usize::from(self.slots[random.below(self.slots.len() as u64) as usize])
    }
}

/// One trip.
pub(crate) struct Ride {
    id: u32,
    pickup: u32,
    seconds: u32,
    passengers: u8,
    from: Place,
    to: Place,
    miles: f32,
    /// Amounts in cents.
    fare: u32,
    extra: u32,
    tax: u32,
    tip: u32,
    tolls: u32,
    card: bool,
    noise: u64,
}

impl Ride {
    fn total(&self) -> f32 {
        dollars(self.fare + self.extra + self.tax + self.tip + self.tolls)
    }

    fn cab(&self) -> &'static str {
        // Green cabs came in August 2013, and took a growing share.
        let months = self.pickup.saturating_sub(1_375_315_200) / 2_629_800;
        if draw(self.noise, 1, 200) < u64::from(months.min(28)) {
            "green"
        } else {
            "yellow"
        }
    }

    fn coordinate(&self, base: f32, salt: u64) -> f32 {
        if base == 0.0 {
            0.0
        } else {
            base + (draw(self.noise, salt, 16_384) as f32 - 8192.0) * 1e-6
        }
    }
}

fn dollars(cents: u32) -> f32 {
    cents as f32 / 100.0
}

impl Source for Rides {
    type Row = Ride;
    const COLUMNS: &'static [Column<Ride>] = &[
        Column::noise("trip_id", Fill::UInt32(|ride| ride.id)),
        Column::new("cab_type", Fill::Word(Ride::cab)),
        Column::new(
            "vendor_id",
            Fill::UInt8(|ride| 1 + draw(ride.noise, 2, 2) as u8),
        ),
        Column::plain("pickup_datetime", Fill::Time(|ride| ride.pickup)),
        Column::plain(
            "dropoff_datetime",
            Fill::Time(|ride| ride.pickup + ride.seconds),
        ),
        Column::plain(
            "pickup_date",
            Fill::Date(|ride| (ride.pickup / 86_400).cast_signed()),
        ),
        Column::new("passenger_count", Fill::UInt8(|ride| ride.passengers)),
        Column::plain("trip_distance", Fill::Float32(|ride| ride.miles)),
        Column::noise(
            "pickup_longitude",
            Fill::Float32(|r| r.coordinate(r.from.1, 3)),
        ),
        Column::noise(
            "pickup_latitude",
            Fill::Float32(|r| r.coordinate(r.from.2, 4)),
        ),
        Column::noise(
            "dropoff_longitude",
            Fill::Float32(|r| r.coordinate(r.to.1, 5)),
        ),
        Column::noise(
            "dropoff_latitude",
            Fill::Float32(|r| r.coordinate(r.to.2, 6)),
        ),
        // The taxi commission's codes: 1 by card, 2 in cash.
        Column::new("payment_type", Fill::UInt8(|ride| 2 - u8::from(ride.card))),
        Column::new("fare_amount", Fill::Float32(|ride| dollars(ride.fare))),
        Column::plain("extra", Fill::Float32(|ride| dollars(ride.extra))),
        Column::plain("mta_tax", Fill::Float32(|ride| dollars(ride.tax))),
        Column::plain("tip_amount", Fill::Float32(|ride| dollars(ride.tip))),
        Column::plain("tolls_amount", Fill::Float32(|ride| dollars(ride.tolls))),
        Column::plain("total_amount", Fill::Float32(Ride::total)),
        Column::new("pickup_ntaname", Fill::Word(|ride| ride.from.0)),
        Column::new("dropoff_ntaname", Fill::Word(|ride| ride.to.0)),
    ];
    const GROUP_ROWS: u64 = 1_000_000;

    fn new(piece: Piece) -> Self {
        let (passengers, places) = (Slots::new(PASSENGERS), Slots::new(PLACES));
        Self {
            row: piece.first,
            piece,
            passengers,
            places,
        }
    }

    fn next_row(&mut self) -> Ride {
        let random = &mut self.piece.random;
        let position = self.row as f64 / self.piece.total as f64;
        let pickup = START + (position * SPAN) as u32 + random.below(120) as u32;
        let id = self.row as u32;
        self.row += 1;

        let to_airport = random.chance(0.04);
        let miles = random.gamma2(if to_airport { 6.0 } else { 1.3 });
        let miles_per_hour = 7.0 + random.unit() * 12.0;
        let seconds = 60.0 + miles / miles_per_hour * 3600.0;
        // 2.50 at the start, 0.50 for a fifth of a mile or a minute in slow traffic.
        let fare = 250 + 50 * ((miles * 5.0) as u32 + (seconds / 360.0) as u32);
        let hour = pickup % 86_400 / 3600;
        let card = random.chance(0.58);
        let tip_share = [0.0, 0.1, 0.18, 0.2, 0.25][random.below(5) as usize];
        Ride {
            id,
            pickup,
            seconds: seconds as u32,
            passengers: PASSENGERS[self.passengers.draw(random)].0,
            from: PLACES[self.places.draw(random)].0,
            to: PLACES[self.places.draw(random)].0,
            miles: (miles * 100.0).round() as f32 / 100.0,
            fare,
            extra: if !(6..20).contains(&hour) {
                50
            } else if (16..20).contains(&hour) {
                100
            } else {
                0
            },
            tax: 50,
            tip: if card {
                (f64::from(fare) * tip_share) as u32
            } else {
                0
            },
            tolls: if to_airport && random.chance(0.6) {
                533
            } else {
                0
            },
            card,
            noise: random.bits(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, Random, Rides, Source};

    #[test]
    fn amounts_add_up_and_time_goes_forward() {
        let random = Random::new(1, 0);
        let mut rides = Rides::new(Piece {
            first: 0,
            total: 1000,
            seed: 1,
            random,
        });
        let mut last = 0;
        for _ in 0..1000 {
            let ride = rides.next_row();
            assert!(ride.pickup + 120 > last && ride.seconds >= 60);
            assert!(
                ride.total() >= 3.0 && ride.total() < 400.0,
                "{}",
                ride.total()
            );
            last = ride.pickup;
        }
        assert!((1_451_000_000..1_451_700_000).contains(&last), "{last}");
    }
}
