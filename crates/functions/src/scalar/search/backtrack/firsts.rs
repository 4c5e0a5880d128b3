//! What can come next at a step of a program, so that ways which must fail are not taken.

/// The bytes that can come next, and whether the value can end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Firsts {
    /// A bit for each byte.
    bytes: [u64; 4],
    end: bool,
}

impl Firsts {
    /// Whatever comes.
    pub(super) const ANY: Self = Self {
        bytes: [u64::MAX; 4],
        end: true,
    };

    /// The end of the value only.
    pub(super) const END: Self = Self {
        bytes: [0; 4],
        end: true,
    };

    /// The bytes for which `is_in` holds.
    pub(super) fn of(is_in: impl Fn(u8) -> bool) -> Self {
        let mut bytes = [0; 4];
        for byte in 0..=255_u8 {
            bytes[usize::from(byte / 64)] |= u64::from(is_in(byte)) << (byte % 64);
        }
        Self { bytes, end: false }
    }

    /// What one of the two allows.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            bytes: std::array::from_fn(|i| self.bytes[i] | other.bytes[i]),
            end: self.end || other.end,
        }
    }

    /// Whether both allow something.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let bytes = self.bytes.iter().zip(&other.bytes);
        (self.end && other.end) || bytes.into_iter().any(|(a, b)| a & b != 0)
    }

    fn has(&self, byte: u8) -> bool {
        self.bytes[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }
}

/// Of two ways, those that may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Neither,
    First,
    Second,
    Both,
}

impl Open {
    fn new(first: bool, second: bool) -> Self {
        match (first, second) {
            (false, false) => Self::Neither,
            (true, false) => Self::First,
            (false, true) => Self::Second,
            (true, true) => Self::Both,
        }
    }
}

/// Which of two ways may succeed, for every byte that comes next and for the end.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    of_bytes: Box<[Open; 256]>,
    of_end: Open,
}

impl Ways {
    /// Both, always.
    pub(super) fn both() -> Self {
        Self::new(&Firsts::ANY, &Firsts::ANY)
    }

    /// The ways before which `first` and `second` can come.
    pub(super) fn new(first: &Firsts, second: &Firsts) -> Self {
        let of = |byte| Open::new(first.has(byte), second.has(byte));
        Self {
            of_bytes: Box::new(std::array::from_fn(|byte| of(byte as u8))),
            of_end: Open::new(first.end, second.end),
        }
    }

    /// Whether anything can come before which both may succeed.
    pub(super) fn are_both_open(&self) -> bool {
        self.of_end == Open::Both || self.of_bytes.contains(&Open::Both)
    }

    /// The ways before `next`, or the end.
    #[inline]
    pub(super) fn open(&self, next: Option<&u8>) -> Open {
        match next {
            Some(byte) => self.of_bytes[usize::from(*byte)],
            None => self.of_end,
        }
    }
}
