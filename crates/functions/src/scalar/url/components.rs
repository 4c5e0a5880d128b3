//! The functions that take a part out of an URL or cut one off.

use std::ops::Range;

use arrow::datatypes::UInt16Type;
use basalt_error::Result;
use basalt_types::DataType;

use super::{hosts, parts};
use crate::scalar::strings::shapes::{Ints, number_rows, string_to_piece, string_to_string};
use crate::{Call, Fails, Resolved, ScalarFunction};

const fn piece(
    name: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
    description: &'static str,
) -> ScalarFunction {
    ScalarFunction {
        name,
        syntax: "f(url)",
        description,
        fails: Fails::Never,
        resolve,
        ..ScalarFunction::BASE
    }
}

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    piece(
        "protocol",
        |c| string_to_piece(c, parts::protocol),
        "The scheme of an URL.",
    ),
    piece(
        "domain",
        |c| string_to_piece(c, parts::domain),
        "The host of an URL.",
    ),
    piece(
        "domainRFC",
        |c| string_to_piece(c, parts::domain_rfc),
        "The host of an URL, by RFC 3986.",
    ),
    piece(
        "domainWithoutWWW",
        |c| string_to_piece(c, parts::domain_without_www),
        "The host of an URL without a leading `www.`.",
    ),
    piece(
        "netloc",
        |c| string_to_piece(c, parts::netloc),
        "User, host and port of an URL.",
    ),
    piece(
        "topLevelDomain",
        |c| string_to_piece(c, parts::top_level_domain),
        "The last part of an URL's host.",
    ),
    piece(
        "firstSignificantSubdomain",
        |c| string_to_piece(c, hosts::first_significant),
        "The part of an URL's host that says whose it is.",
    ),
    piece(
        "cutToFirstSignificantSubdomain",
        |c| string_to_piece(c, hosts::cut_to_significant),
        "The host of an URL from its significant part on.",
    ),
    piece(
        "cutToFirstSignificantSubdomainWithWWW",
        |c| string_to_piece(c, hosts::cut_to_significant_with_www),
        "As `cutToFirstSignificantSubdomain`, where `www` counts as significant.",
    ),
    piece(
        "domainWithoutWWWRFC",
        |c| string_to_piece(c, parts::domain_without_www_rfc),
        "As `domainWithoutWWW`, by RFC 3986.",
    ),
    piece(
        "topLevelDomainRFC",
        |c| string_to_piece(c, parts::top_level_domain_rfc),
        "As `topLevelDomain`, by RFC 3986.",
    ),
    piece(
        "firstSignificantSubdomainRFC",
        |c| string_to_piece(c, hosts::first_significant_rfc),
        "As `firstSignificantSubdomain`, by RFC 3986.",
    ),
    piece(
        "cutToFirstSignificantSubdomainRFC",
        |c| string_to_piece(c, hosts::cut_to_significant_rfc),
        "As `cutToFirstSignificantSubdomain`, by RFC 3986.",
    ),
    piece(
        "cutToFirstSignificantSubdomainWithWWWRFC",
        |c| string_to_piece(c, hosts::cut_to_significant_with_www_rfc),
        "As `cutToFirstSignificantSubdomainWithWWW`, by RFC 3986.",
    ),
    piece(
        "path",
        |c| string_to_piece(c, parts::path),
        "The path of an URL without query and fragment.",
    ),
    piece(
        "pathFull",
        |c| string_to_piece(c, parts::path_full),
        "The path of an URL with query and fragment.",
    ),
    piece(
        "queryString",
        |c| string_to_piece(c, parts::query_string),
        "The query of an URL.",
    ),
    piece(
        "fragment",
        |c| string_to_piece(c, parts::fragment),
        "The fragment of an URL.",
    ),
    piece(
        "queryStringAndFragment",
        |c| string_to_piece(c, parts::query_and_fragment),
        "The query and the fragment of an URL.",
    ),
    piece(
        "cutWWW",
        |c| cut(c, parts::www),
        "The URL without `www.` before its host.",
    ),
    piece(
        "cutQueryString",
        |c| cut(c, parts::marked_query),
        "The URL without its query.",
    ),
    piece(
        "cutFragment",
        |c| cut(c, parts::marked_fragment),
        "The URL without its fragment.",
    ),
    piece(
        "cutQueryStringAndFragment",
        |c| cut(c, parts::marked_query_and_fragment),
        "The URL without its query and fragment.",
    ),
    piece(
        "port",
        |c| resolve_port(c, parts::domain),
        "The port of an URL, or a default.",
    ),
    piece(
        "portRFC",
        |c| resolve_port(c, parts::domain_rfc),
        "The port of an URL, or a default, by RFC 3986.",
    ),
];

fn cut(call: &Call<'_>, part: fn(&[u8]) -> Range<usize>) -> Result<Resolved> {
    string_to_string(call, move |url, out| {
        let part = part(url);
        out.extend_from_slice(&url[..part.start]);
        out.extend_from_slice(&url[part.end..]);
    })
}

fn resolve_port(call: &Call<'_>, host: fn(&[u8]) -> Range<usize>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    if call.args.len() == 2 {
        call.expect_type(1, |t| *t == DataType::UInt16)?;
    }
    Resolved::new(DataType::UInt16, move |columns, num_rows| {
        let urls = columns[0].strings()?;
        let defaults = columns.get(1).map(Ints::new).transpose()?;
        number_rows::<UInt16Type>(columns, num_rows, |row| {
            let default = defaults.as_ref().map_or(0, |d| d.value(row) as u16);
            let url = urls.value(row);
            Ok(parts::port(url, &host(url), default))
        })
    })
}
