//! Holds the words of eight languages, most frequent first, and makes phrases and titles of them.
//!
//! Every text is a function of its number: the same phrase number is the same phrase in every row and file.

use std::sync::LazyLock;

use crate::random::{draw, mix, pick, power_law};

/// A language that phrases and titles are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Russian,
    Ukrainian,
    English,
    German,
    Turkish,
    French,
    Spanish,
    Polish,
}

/// Languages by their share of all phrases.
pub(crate) const LANGUAGES: &[(Language, u32)] = &[
    (Language::Russian, 60),
    (Language::English, 14),
    (Language::Ukrainian, 8),
    (Language::Turkish, 6),
    (Language::German, 5),
    (Language::Polish, 3),
    (Language::French, 2),
    (Language::Spanish, 2),
];

/// A language's words and what goes with the language.
pub(crate) struct Vocabulary {
    words: Vec<&'static str>,
    /// Ends of the names of sites.
    pub(crate) domain: &'static str,
    /// ISO code of the language.
    pub(crate) code: &'static str,
    /// ISO code of the country.
    pub(crate) country: &'static str,
}

impl Vocabulary {
    fn new(text: &'static str, [domain, code, country]: [&'static str; 3]) -> Self {
        Self {
            words: text.split_whitespace().collect(),
            domain,
            code,
            country,
        }
    }

    /// A word; the first ones come often.
    pub(crate) fn word(&self, key: u64, salt: u64) -> &'static str {
        let u = draw(key, salt, 1 << 32) as f64 / (1_u64 << 32) as f64;
        self.words[power_law(u, self.words.len() as u64, 0.35) as usize]
    }
}

static VOCABULARIES: LazyLock<[Vocabulary; 8]> = LazyLock::new(|| {
    [
        Vocabulary::new(include_str!("words/russian.txt"), ["ru", "ru", "RU"]),
        Vocabulary::new(include_str!("words/ukrainian.txt"), ["ua", "uk", "UA"]),
        Vocabulary::new(include_str!("words/english.txt"), ["com", "en", "US"]),
        Vocabulary::new(include_str!("words/german.txt"), ["de", "de", "DE"]),
        Vocabulary::new(include_str!("words/turkish.txt"), ["com.tr", "tr", "TR"]),
        Vocabulary::new(include_str!("words/french.txt"), ["fr", "fr", "FR"]),
        Vocabulary::new(include_str!("words/spanish.txt"), ["es", "es", "ES"]),
        Vocabulary::new(include_str!("words/polish.txt"), ["pl", "pl", "PL"]),
    ]
});

impl Language {
    /// The language's words.
    pub(crate) fn vocabulary(self) -> &'static Vocabulary {
        &VOCABULARIES[self as usize]
    }
}

/// Appends search phrase number `phrase`: two to seven words of one language, sometimes a year.
pub(crate) fn push_phrase(phrase: u64, out: &mut String) {
    let key = mix(phrase);
    let vocabulary = pick(LANGUAGES, key, 0).vocabulary();
    push_words(vocabulary, key, 2 + draw(key, 1, 6), out);
    if draw(key, 2, 12) == 0 {
        out.push_str([" 2012", " 2013", " 2", " 10", " mp3", " hd"][draw(key, 3, 6) as usize]);
    }
}

/// Appends `num_words` words with spaces between them.
pub(crate) fn push_words(vocabulary: &Vocabulary, key: u64, num_words: u64, out: &mut String) {
    for position in 0..num_words {
        if position > 0 {
            out.push(' ');
        }
        out.push_str(vocabulary.word(key, 16 + position));
    }
}

/// Appends the text with its first letter in upper case.
pub(crate) fn push_capitalised(text: &str, out: &mut String) {
    let mut letters = text.chars();
    if let Some(first) = letters.next() {
        out.extend(first.to_uppercase());
        out.push_str(letters.as_str());
    }
}

/// Appends a decimal number.
pub(crate) fn push_number(number: u64, out: &mut String) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    let mut left = number;
    loop {
        start -= 1;
        digits[start] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend(digits[start..].iter().map(|&digit| char::from(digit)));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{LANGUAGES, push_capitalised, push_number, push_phrase};

    fn phrase(number: u64) -> String {
        let mut text = String::new();
        push_phrase(number, &mut text);
        text
    }

    #[test]
    fn phrases_are_stable_different_and_in_two_scripts() {
        let phrases: HashSet<String> = (0..10_000).map(phrase).collect();
        assert!(phrases.len() > 9_500, "{}", phrases.len());
        assert_eq!(phrase(17), phrase(17));
        let cyrillic = phrases
            .iter()
            .filter(|text| text.chars().any(|c| ('а'..='я').contains(&c)));
        let share = cyrillic.count() as f64 / phrases.len() as f64;
        assert!((0.6..0.8).contains(&share), "{share}");
        assert!(phrases.iter().all(|text| text.contains(' ')));
    }

    #[test]
    fn languages_stand_in_the_order_of_their_vocabularies() {
        for &(language, _) in LANGUAGES {
            let code = language.vocabulary().code;
            let name = format!("{language:?}").to_lowercase();
            let expected = match code {
                "uk" | "en" | "ru" | "tr" | "fr" => &name[..2],
                "de" => "ge",
                "es" => "sp",
                _ => "po",
            };
            assert!(name.starts_with(expected), "{name} {code}");
        }
    }

    #[test]
    fn numbers_and_capitals() {
        let mut text = String::new();
        push_number(0, &mut text);
        push_number(u64::MAX, &mut text);
        push_capitalised("éa", &mut text);
        push_capitalised("", &mut text);
        assert_eq!(text, "018446744073709551615Éa");
    }
}
