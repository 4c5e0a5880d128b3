//! Unicode's normal forms, folding of case, and letters without their marks.

use basalt_error::{Error, ErrorCode, Result};
use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use super::shapes::try_string_to_string;
use crate::{Call, Resolved, ScalarFunction};

macro_rules! forms {
    ($($name:literal $aliases:expr, $form:expr, $description:literal;)*) => {
        /// The functions of this file.
        pub const FUNCTIONS: &[ScalarFunction] = &[$(
            ScalarFunction {
                name: $name,
                aliases: $aliases,
                syntax: concat!($name, "(s)"),
                description: $description,
                resolve: |call| resolve(call, $form),
                ..ScalarFunction::BASE
            },
        )*];
    };
}

forms! {
    "normalizeUTF8NFC" &[], nfc, "The string in Unicode's normal form C.";
    "normalizeUTF8NFD" &[], nfd, "The string in Unicode's normal form D.";
    "normalizeUTF8NFKC" &[], nfkc, "The string in Unicode's normal form KC.";
    "normalizeUTF8NFKD" &[], nfkd, "The string in Unicode's normal form KD.";
    "normalizeUTF8NFKCCasefold" &[], nfkc_folded, "The string in Unicode's normal form KC, in one case.";
    "caseFoldUTF8" &[], folded, "The string in the case in which strings are compared.";
    "removeDiacriticsUTF8" &["removeAccentsUTF8"], without_marks, "The string without accents and other marks on letters.";
}

fn resolve(call: &Call<'_>, form: fn(&str) -> String) -> Result<Resolved> {
    let name = call.name.to_owned();
    try_string_to_string(call, move |value, out| {
        let text = std::str::from_utf8(value).map_err(|_| {
            Error::new(
                ErrorCode::CANNOT_NORMALIZE_STRING,
                format!("The argument of function {name} is not UTF-8"),
            )
        })?;
        out.extend_from_slice(form(text).as_bytes());
        Ok(())
    })
}

fn nfc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc()
        .normalize(text)
        .into_owned()
}

fn nfd(text: &str) -> String {
    DecomposingNormalizerBorrowed::new_nfd()
        .normalize(text)
        .into_owned()
}

fn nfkc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfkc()
        .normalize(text)
        .into_owned()
}

fn nfkd(text: &str) -> String {
    DecomposingNormalizerBorrowed::new_nfkd()
        .normalize(text)
        .into_owned()
}

/// Folding, with what normalization makes of it folded once more.
fn nfkc_folded(text: &str) -> String {
    nfkc(&folded(&nfkd(&folded(text))))
}

/// Upper case and back brings letters together that have one upper form; a few have one of their
/// own that must not be mixed up.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'ı' => out.push(c),
            'İ' => out.push_str("i\u{307}"),
            'ẞ' => out.push_str("ss"),
            // Cherokee folds to its upper case.
            '\u{13a0}'..='\u{13f5}' => out.push(c),
            '\u{13f8}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => out.extend(c.to_uppercase()),
            _ => out.extend(c.to_uppercase().flat_map(char::to_lowercase)),
        }
    }
    out
}

fn without_marks(text: &str) -> String {
    let classes = CanonicalCombiningClassMapBorrowed::new();
    let letters = nfd(text)
        .chars()
        .filter(|c| classes.get_u8(*c) == 0)
        .collect::<String>();
    nfc(&letters)
}
