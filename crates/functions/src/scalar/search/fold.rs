//! Defines how a search compares: bytes or characters, with or without case.

/// How a function searches: `position`, `positionUTF8`, `positionCaseInsensitive` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Places are counted in characters, not bytes.
    pub in_chars: bool,
    /// Letters of different case are equal (ASCII only, or all if `in_chars`).
    pub ignores_case: bool,
}

impl Mode {
    /// Bytes as they are.
    pub const BYTES: Mode = Mode {
        in_chars: false,
        ignores_case: false,
    };
    /// Characters as they are.
    pub const UTF8: Mode = Mode {
        in_chars: true,
        ignores_case: false,
    };
    /// Bytes, ASCII letters of any case.
    pub const CASE_INSENSITIVE: Mode = Mode {
        in_chars: false,
        ignores_case: true,
    };
    /// Characters of any case.
    pub const CASE_INSENSITIVE_UTF8: Mode = Mode {
        in_chars: true,
        ignores_case: true,
    };

    /// `value` as it is compared: itself, or its lower case written to `scratch`.
    ///
    /// Each character stays one character, so that counted places stay right.
    #[inline]
    pub fn fold<'a>(self, value: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
        if !self.ignores_case {
            return value;
        }
        scratch.clear();
        if !self.in_chars || value.is_ascii() {
            scratch.extend_from_slice(value);
            scratch.make_ascii_lowercase();
            return scratch;
        }
        for chunk in value.utf8_chunks() {
            for c in chunk.valid().chars() {
                let mut lower = c.to_lowercase();
                let folded = match lower.next() {
                    Some(l) if lower.len() == 0 => l,
                    _ => c,
                };
                scratch.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes());
            }
            scratch.extend_from_slice(chunk.invalid());
        }
        scratch
    }

    /// [`Mode::fold`] into a string of its own.
    pub fn folded(self, value: &[u8]) -> Vec<u8> {
        let mut scratch = Vec::new();
        self.fold(value, &mut scratch).to_vec()
    }
}
