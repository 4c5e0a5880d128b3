//! Knows between which texts the strings of a group lie, so that scans can skip the group.

use super::index::Relation;

/// Bytes of a text that are kept.
const MAX_BYTES: usize = 32;

/// The beginnings of the least and of the greatest string of a group, NULLs left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBounds {
    pub(super) least: Box<[u8]>,
    pub(super) greatest: Box<[u8]>,
}

impl TextBounds {
    /// The bounds of some texts; none if there are none.
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut bounds: Option<(&[u8], &[u8])> = None;
        for text in texts {
            let (least, greatest) = bounds.unwrap_or((text, text));
            // Most texts lie between those before them.
            if text < least {
                bounds = Some((text, greatest));
            } else if text > greatest || bounds.is_none() {
                bounds = Some((least, text));
            }
        }
        let (least, greatest) = bounds?;
        let beginning = |text: &[u8]| text[..text.len().min(MAX_BYTES)].into();
        Some(Self {
            least: beginning(least),
            greatest: beginning(greatest),
        })
    }

    /// The beginning of the least string, or of the greatest.
    pub fn end(&self, greatest: bool) -> &[u8] {
        match greatest {
            true => &self.greatest,
            false => &self.least,
        }
    }

    /// Whether there can be a string that begins with `text`.
    pub fn can_begin(&self, text: &[u8]) -> bool {
        let may_be_below = *self.least <= *text || self.least.starts_with(text);
        may_be_below && self.can_hold(Relation::AtLeast, text)
    }

    /// Whether there can be a string in that relation to `value`.
    pub fn can_hold(&self, relation: Relation, value: &[u8]) -> bool {
        let may_be_at_most = *self.least <= *value;
        // What was cut off may have been more than what follows in `value`.
        let is_cut = self.greatest.len() == MAX_BYTES;
        let may_be_at_least =
            *value <= *self.greatest || (is_cut && value.starts_with(&self.greatest));
        match relation {
            Relation::Equal => may_be_at_most && may_be_at_least,
            Relation::AtMost => may_be_at_most,
            Relation::AtLeast => may_be_at_least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Relation, TextBounds};

    #[test]
    fn what_lies_outside_cannot_be_there() {
        let texts = [&b"delta"[..], b"beta", b"gamma"];
        let known = TextBounds::of(texts.into_iter()).unwrap();
        for (value, holds) in [
            ("alpha", [false, false, true]),
            ("beta", [true, true, true]),
            ("charlie", [true, true, true]),
            ("gamma", [true, true, true]),
            ("gamma ", [false, true, false]),
            ("", [false, false, true]),
        ] {
            let relations = [Relation::Equal, Relation::AtMost, Relation::AtLeast];
            let found = relations.map(|relation| known.can_hold(relation, value.as_bytes()));
            assert_eq!(found, holds, "{value}");
        }
        for (text, holds) in [
            ("", true),
            ("b", true),
            ("c", true),
            ("g", true),
            ("gb", false),
            ("a", false),
        ] {
            assert_eq!(known.can_begin(text.as_bytes()), holds, "{text}");
        }
        assert_eq!(TextBounds::of(std::iter::empty()), None);
    }

    #[test]
    fn long_texts_are_cut() {
        let (long, longer) = ("x".repeat(100), "x".repeat(200));
        let known = TextBounds::of([long.as_bytes()].into_iter()).unwrap();
        assert!(known.can_hold(Relation::Equal, long.as_bytes()));
        assert!(known.can_hold(Relation::AtLeast, longer.as_bytes()));
        assert!(!known.can_hold(Relation::AtLeast, b"y"));
        assert!(!known.can_hold(Relation::AtMost, b"x"));
    }
}
