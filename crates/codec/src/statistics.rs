//! Counts what a block's header tells about its values, so that scans can skip the block.

use basalt_kernels::widest::{Loop, widest};

use crate::element::{Element, Kind, WordVisitor};
use crate::encoding::distinct;
use crate::word::{Word, with_words};

/// What is known of a block's values without decoding them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The least and the greatest value, widened to 64 bits: integers by their sign, floats to Float64.
    /// NaN counts for neither. `None` if there are no such values or nobody looked.
    pub bounds: Option<(u64, u64)>,
    /// How many of the values are stored for a NULL.
    pub null_count: u32,
    /// About how many values are different; 0 if nobody counted.
    pub distinct_estimate: u32,
}

impl Statistics {
    /// Looks at all of `values`, of which none stands for a NULL.
    pub fn of(values: &[u8], element: Element) -> Self {
        let distinct = CountDistinct {
            values,
            by_sample: false,
        };
        Self {
            distinct_estimate: element.visit(distinct).unwrap_or_default(),
            ..Self::bounds_of(values, element)
        }
    }

    /// The bounds of all values, and how many are different by a look at some: to count them takes several times as long.
    pub fn by_sample(values: &[u8], element: Element) -> Self {
        let distinct = CountDistinct {
            values,
            by_sample: true,
        };
        Self {
            distinct_estimate: element.visit(distinct).unwrap_or_default(),
            ..Self::bounds_of(values, element)
        }
    }

    fn bounds_of(values: &[u8], element: Element) -> Self {
        let kind = element.kind();
        let bounds = element.visit(FindBounds { values, kind });
        Self {
            bounds: bounds.flatten(),
            ..Self::default()
        }
    }

    /// Least and greatest value of signed integers.
    pub fn signed_bounds(&self) -> Option<(i64, i64)> {
        let (least, greatest) = self.bounds?;
        Some((least.cast_signed(), greatest.cast_signed()))
    }

    /// Least and greatest value of floats.
    pub fn float_bounds(&self) -> Option<(f64, f64)> {
        let (least, greatest) = self.bounds?;
        Some((f64::from_bits(least), f64::from_bits(greatest)))
    }
}

struct CountDistinct<'a> {
    values: &'a [u8],
    by_sample: bool,
}

impl WordVisitor for CountDistinct<'_> {
    type Output = u32;

    fn visit<T: Word>(self) -> u32 {
        let distinct = with_words(self.values, |words: &[T]| match self.by_sample {
            true => distinct::estimate_by_sample(words),
            false => distinct::estimate(words),
        });
        u32::try_from(distinct).unwrap_or(u32::MAX)
    }
}

struct FindBounds<'a> {
    values: &'a [u8],
    kind: Kind,
}

impl WordVisitor for FindBounds<'_> {
    type Output = Option<(u64, u64)>;

    fn visit<T: Word>(self) -> Self::Output {
        with_words(self.values, |words: &[T]| match words {
            [] => None,
            words => bounds(words, self.kind),
        })
    }
}

fn bounds<T: Word>(words: &[T], kind: Kind) -> Option<(u64, u64)> {
    match kind {
        Kind::Bytes => None,
        Kind::Unsigned => {
            let (least, most) = widest(MinMax {
                words,
                flip: T::default(),
            });
            Some((least.widened(), most.widened()))
        }
        Kind::Signed => {
            let (least, most) = widest(MinMax {
                words,
                flip: T::SIGN,
            });
            Some((sign_extended(least), sign_extended(most)))
        }
        Kind::Float => {
            let floats = words
                .iter()
                .map(|word| float(*word))
                .filter(|x| !x.is_nan());
            let bounds = floats.fold(None, |bounds, x| match bounds {
                None => Some((x, x)),
                Some((least, most)) => Some((f64::min(least, x), f64::max(most, x))),
            });
            bounds.map(|(least, most)| (least.to_bits(), most.to_bits()))
        }
    }
}

/// Least and greatest word, whose order is that of signed integers if `flip` is the sign.
struct MinMax<'a, T> {
    words: &'a [T],
    flip: T,
}

impl<T: Word> Loop for MinMax<'_, T> {
    type Output = (T, T);

    #[inline(always)]
    fn run(self) -> (T, T) {
        let start = (T::MAX, T::default());
        let (least, most) = self.words.iter().fold(start, |(least, most), word| {
            let word = *word ^ self.flip;
            (least.min(word), most.max(word))
        });
        (least ^ self.flip, most ^ self.flip)
    }
}

fn sign_extended<T: Word>(word: T) -> u64 {
    let unused = 64 - T::BITS;
    ((word.widened() << unused).cast_signed() >> unused).cast_unsigned()
}

fn float<T: Word>(word: T) -> f64 {
    match u32::try_from(word.widened()) {
        Ok(bits) if T::BITS == 32 => f64::from(f32::from_bits(bits)),
        _ => f64::from_bits(word.widened()),
    }
}

#[cfg(test)]
mod tests {
    use super::Statistics;
    use crate::element::Element;
    use crate::word::bytes_of;

    #[test]
    fn bounds_follow_the_kind_of_values() {
        let of = |values: &[u8], name| Statistics::of(values, Element::named(name).unwrap());
        let bytes = [0, 1, 255];
        assert_eq!(of(&bytes, "UInt8").bounds, Some((0, 255)));
        assert_eq!(of(&bytes, "Int8").signed_bounds(), Some((-1, 1)));
        assert_eq!(of(&bytes, "Int8").distinct_estimate, 3);
        let floats = [f32::NAN, 2.5, -1.0].map(f32::to_bits);
        assert_eq!(
            of(bytes_of(&floats), "Float32").float_bounds(),
            Some((-1.0, 2.5))
        );
        assert_eq!(of(bytes_of(&floats[..1]), "Float32").bounds, None);
        assert_eq!(of(&bytes, "String"), Statistics::default());
        assert_eq!(of(&[], "UInt64"), Statistics::default());
    }
}
