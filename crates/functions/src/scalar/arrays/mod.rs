//! Functions of arrays.
//!
//! | module | owns |
//! |---|---|
//! | [`lists`] | arrays as ranges of elements, new arrays from picked elements |
//! | [`integers`] | positions, lengths and shifts of any integer type |
//! | [`unify`] | casts of arguments to a common type |
//! | [`matching`] | equality of elements |
//! | [`order`] | order of elements |
//! | [`construct`] | arrays from values |
//! | [`range`] | `range` |
//! | [`edit`] | `arrayLevenshteinDistance`, `arraySimilarity` |
//! | [`element`] | `arr[n]` and `map[key]` |
//! | [`grow`] | `arrayConcat`, `arrayPushBack`, `arrayResize` and kin |
//! | [`cut`] | `arraySlice`, `arrayPopBack`, rotations, shifts |
//! | [`search`] | `has`, `indexOf`, `hasAll` and kin |
//! | [`distinct`] | `arrayDistinct`, `arrayUniq`, `arrayEnumerate…` |
//! | [`ranked`] | `arrayEnumerateUniqRanked`, `arrayEnumerateDenseRanked` |
//! | [`nested`] | `arrayTranspose`, `replicate` |
//! | [`zip`] | `arrayZip`, `arrayFlatten` |
//! | [`reduce`] | `arrayReduce` |
//! | [`floats`] | elements as floats |
//! | [`vectors`] | products, norms, distances |
//! | [`score`] | `arrayROCAUC`, `arrayNormalizedGini` |
//! | [`sequences`] | arrays as values over time |
//! | [`shuffle`] | `arrayShuffle`, `arrayRandomSample` |
//! | [`sets`] | `arrayIntersect`, `arrayUnion` and kin |

pub mod construct;
pub mod cut;
pub mod distinct;
pub mod edit;
pub mod element;
pub mod floats;
pub mod grow;
pub mod integers;
pub mod lists;
pub mod matching;
pub mod nested;
pub mod order;
pub mod range;
pub mod ranked;
pub mod reduce;
pub mod score;
pub mod search;
pub mod sequences;
pub mod sets;
pub mod shuffle;
pub mod unify;
pub mod vectors;
pub mod zip;
