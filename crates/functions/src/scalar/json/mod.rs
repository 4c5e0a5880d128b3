//! Functions of JSON texts.
//!
//! | module | owns |
//! |---|---|
//! | [`value`] | walking JSON text in place |
//! | [`number`] | JSON numbers, values without space |
//! | [`insert`] | JSON values into columns of any type |
//! | `path` | the paths that calls give as arguments |
//! | [`extract`] | `JSONExtract…` |
//! | [`inspect`] | `JSONHas`, `JSONLength`, `JSONType`, `isValidJSON` |
//! | [`standard_path`] | `JSON_VALUE`, `JSON_QUERY`, `JSON_EXISTS` |
//! | [`simple`] | `simpleJSON…`, `visitParam…` |
//! | [`write`] | `toJSONString`, `JSONMergePatch` |
//! | [`pretty`] | `prettyPrintJSON` |

pub mod extract;
pub mod insert;
pub mod inspect;
pub mod number;
mod path;
pub mod pretty;
pub mod simple;
pub mod standard_path;
pub mod value;
pub mod write;
