//! Guesses the character set of bytes.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use crate::ScalarFunction;
use crate::scalar::strings::shapes::string_to_string;

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "detectCharset",
    syntax: "detectCharset(s)",
    description: "The likely character set of a string: `UTF-8`, `WINDOWS-1252` and so on.",
    resolve: |call| {
        string_to_string(call, |s, out| {
            let name = detector(s).guess(None, Utf8Detection::Allow).name();
            out.extend_from_slice(name.to_ascii_uppercase().as_bytes());
        })
    },
    ..ScalarFunction::BASE
}];

fn detector(bytes: &[u8]) -> EncodingDetector {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector
}

/// The text of bytes in an unknown character set.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let encoding = detector(bytes).guess(None, Utf8Detection::Deny);
            let mut decoder = encoding.new_decoder_without_bom_handling();
            // Three bytes for one is the most that a character set can ask for.
            let longest = decoder.max_utf8_buffer_length(bytes.len());
            let mut text = vec![0; longest.unwrap_or(bytes.len() * 3)];
            let (_, _, written, _) = decoder.decode_to_utf8(bytes, &mut text, true);
            text.truncate(written);
            Cow::Owned(String::from_utf8_lossy(&text).into_owned())
        }
    }
}
