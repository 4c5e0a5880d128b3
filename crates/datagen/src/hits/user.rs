//! Derives everything that belongs to a user from the user's number.

use crate::random::{draw, mix, pick, power_law};
use crate::words::{LANGUAGES, Language};

/// The user that one of ClickBench's queries looks for, and the number that has this id.
const KNOWN_USER: (u64, i64) = (5_000, 435_090_932_899_640_449);

/// Someone who looks at pages, with one device.
#[derive(Clone, Copy)]
pub(super) struct User {
    pub(super) id: i64,
    pub(super) key: u64,
    pub(super) region: i32,
    pub(super) language: Language,
    pub(super) device: Device,
    pub(super) age: i16,
    pub(super) sex: i16,
    pub(super) hours_from_utc: i16,
}

/// A kind of device, in the codes of the counting service.
#[derive(Clone, Copy)]
pub(super) struct Device {
    pub(super) os: i16,
    pub(super) browser: i16,
    pub(super) browser_major: i16,
    pub(super) browser_minor: &'static str,
    pub(super) width: i16,
    pub(super) height: i16,
    /// Code and name of a phone or tablet; 0 for a computer.
    pub(super) phone: (i16, &'static str),
}

impl Device {
    const fn computer(codes: [i16; 3], minor: &'static str, screen: [i16; 2]) -> Self {
        Self::phone(codes, minor, screen, (0, ""))
    }

    const fn phone(
        [os, browser, browser_major]: [i16; 3],
        browser_minor: &'static str,
        [width, height]: [i16; 2],
        phone: (i16, &'static str),
    ) -> Self {
        Self {
            os,
            browser,
            browser_major,
            browser_minor,
            width,
            height,
            phone,
        }
    }
}

const DEVICES: &[(Device, u32)] = &[
    (Device::computer([44, 5, 28], "0", [1366, 768]), 150),
    (Device::computer([44, 2, 22], "0", [1366, 768]), 90),
    (Device::computer([44, 3, 12], "15", [1366, 768]), 60),
    (Device::computer([44, 7, 10], "0", [1366, 768]), 50),
    (Device::computer([44, 5, 27], "0", [1920, 1080]), 90),
    (Device::computer([44, 2, 21], "0", [1920, 1080]), 60),
    (Device::computer([2, 5, 28], "0", [1280, 1024]), 90),
    (Device::computer([2, 2, 22], "0", [1280, 1024]), 60),
    (Device::computer([2, 7, 8], "0", [1024, 768]), 60),
    (Device::computer([2, 3, 12], "14", [1024, 768]), 40),
    (Device::computer([44, 5, 28], "0", [1600, 900]), 50),
    (Device::computer([44, 88, 1], "5", [1680, 1050]), 40),
    (Device::computer([44, 7, 9], "0", [1440, 900]), 40),
    (Device::computer([159, 5, 28], "0", [1366, 768]), 30),
    (Device::computer([45, 1, 6], "0", [1440, 900]), 15),
    (Device::computer([36, 5, 28], "0", [1280, 800]), 15),
    (Device::computer([0, 0, 0], "", [0, 0]), 8),
    (
        Device::phone([126, 32, 6], "0", [768, 1024], (1, "iPad")),
        20,
    ),
    (
        Device::phone([126, 32, 6], "1", [320, 568], (1, "iPhone")),
        14,
    ),
    (
        Device::phone([74, 46, 4], "1", [720, 1280], (5, "GT-I9300")),
        6,
    ),
    (
        Device::phone([74, 46, 4], "2", [1080, 1920], (5, "GT-I9500")),
        4,
    ),
    (
        Device::phone([74, 46, 4], "0", [480, 800], (7, "Desire")),
        3,
    ),
    (
        Device::phone([74, 5, 28], "0", [800, 1280], (6, "Nexus 7")),
        3,
    ),
    (Device::phone([77, 82, 7], "0", [360, 640], (4, "N8-00")), 2),
];

/// Ages, 0 where it is not known.
const AGES: &[(i16, u32)] = &[
    (0, 26),
    (16, 8),
    (22, 18),
    (28, 20),
    (31, 14),
    (50, 8),
    (55, 6),
];
const SEXES: &[(i16, u32)] = &[(0, 26), (1, 38), (2, 36)];
/// Time zones by their distance from Greenwich in hours.
const ZONES: &[(i16, u32)] = &[
    (4, 62),
    (3, 12),
    (6, 10),
    (7, 4),
    (8, 4),
    (1, 4),
    (0, 2),
    (-5, 2),
];

impl User {
    /// User number `number`; numbers are ranks, the busiest user is 0.
    pub(super) fn new(number: u64, seed: u64) -> Self {
        let key = mix(seed.wrapping_add(mix(number)));
        let u = draw(key, 1, 1 << 32) as f64 / (1_u64 << 32) as f64;
        let id = if number == KNOWN_USER.0 {
            KNOWN_USER.1
        } else {
            mix(key).cast_signed()
        };
        let sex = pick(SEXES, key, 5);
        Self {
            id,
            key,
            // 229 and 2 first: the two capitals; then thousands of others.
            region: match power_law(u, 9_040, 0.75) as i32 {
                0 => 229,
                1 => 2,
                rank => rank * 13 % 116_000 + 3,
            },
            language: pick(LANGUAGES, key, 2),
            device: pick(DEVICES, key, 3),
            age: if sex == 0 { 0 } else { pick(AGES, key, 4) },
            sex,
            hours_from_utc: pick(ZONES, key, 6),
        }
    }

    /// A number below `n` of this user's own.
    pub(super) fn draw(&self, salt: u64, n: u64) -> u64 {
        draw(self.key, 64 + salt, n)
    }

    pub(super) fn is_mobile(&self) -> bool {
        self.device.phone.0 != 0
    }

    /// The user's address; it belongs to the region's networks.
    pub(super) fn address(&self) -> i32 {
        let network = mix(u64::from(self.region.unsigned_abs())) as u32 & 0xFFFF_0000;
        (network | self.draw(1, 1 << 16) as u32).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{KNOWN_USER, User};

    #[test]
    fn users_are_stable_and_have_ids_of_their_own() {
        let ids: HashSet<i64> = (0..20_000).map(|number| User::new(number, 1).id).collect();
        assert_eq!(ids.len(), 20_000);
        assert!(ids.contains(&KNOWN_USER.1));
        assert_eq!(User::new(7, 1).id, User::new(7, 1).id);
        assert_ne!(User::new(7, 1).id, User::new(7, 2).id);
    }

    #[test]
    fn some_users_are_mobile() {
        let mobile = (0..20_000)
            .filter(|&number| User::new(number, 1).is_mobile())
            .count();
        assert!((600..1_800).contains(&mobile), "{mobile}");
    }
}
