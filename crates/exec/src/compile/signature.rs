//! Reads from the key of a function to which types it was bound.

use basalt_jit::Type;
use basalt_types::{DataType, Tz, parse_data_type};

use super::expression::type_of;

/// Modes of casts in which integers wrap; the others refuse what changes.
const WRAPPING: [&str; 3] = ["Normal", "Reading", "Branch"];

/// The name of every conversion.
pub(super) const CAST: &str = "cast";

/// What stands in front of the session's time zone at the end of a key.
const ZONE: char = '@';

/// What the integers of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Themselves.
    Number,
    /// Days since 1970, without sign.
    Date,
    /// Days since 1970, with a sign.
    Date32,
    /// Seconds since 1970, without sign.
    DateTime {
        /// Whether clocks of the zone show UTC.
        is_utc: bool,
    },
}

/// The type of an argument or result, or what is inside of a Nullable one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) kind: Kind,
    pub(super) data_type: Type,
}

/// The types that a function was bound to.
#[derive(Debug)]
pub(super) struct Signature<'a> {
    pub(super) name: &'a str,
    pub(super) result: Operand,
    pub(super) args: Vec<Operand>,
}

impl<'a> Signature<'a> {
    /// Reads `name->result:arg:arg@zone`, or `cast:mode:from:to:zone`; none if a type is neither a plain number nor a
    /// date or time of whole seconds. Types whose names have a colon in them are none of these.
    pub(super) fn parse(key: &'a str) -> Option<Self> {
        if let Some(types) = key.strip_prefix("cast:") {
            return Self::parse_cast(types);
        }
        let (name, types) = key.split_once("->")?;
        let (types, zone) = match types.rsplit_once(ZONE) {
            Some((types, zone)) => (types, zone),
            None => (types, ""),
        };
        let mut types = types.split(':');
        let result = Operand::parse(types.next()?, zone)?;
        let args = types
            .map(|name| Operand::parse(name, zone))
            .collect::<Option<_>>()?;
        // `toUInt32(x)` is a cast by another name. `toYear(x)` is none, though YEAR is a type by another name.
        let to = name.strip_prefix("to").filter(|to| *to != "Bool");
        let is_name = |to: &&str| parse_data_type(to).is_ok_and(|t| t.to_string() == **to);
        let to = to.filter(is_name);
        let is_conversion = to.is_some_and(|to| Operand::parse(to, zone) == Some(result));
        let name = if is_conversion { CAST } else { name };
        Some(Self { name, result, args })
    }

    fn parse_cast(types: &str) -> Option<Self> {
        let mut types = types.split(':');
        let [mode, from, to, zone] = [(); 4].map(|()| types.next());
        let (mode, from, to, zone) = (mode?, from?, to?, zone?);
        // A NULL cannot become a type that is not Nullable, and anything but 0 as a Bool is 1.
        let fails = from.starts_with("Nullable(") && !to.starts_with("Nullable(");
        if !WRAPPING.contains(&mode) || fails || to.contains("Bool") {
            return None;
        }
        Some(Self {
            name: CAST,
            result: Operand::parse(to, zone)?,
            args: vec![Operand::parse(from, zone)?],
        })
    }

    /// Whether arguments and result are numbers.
    pub(super) fn is_of_numbers(&self) -> bool {
        let mut all = self.args.iter().chain([&self.result]);
        all.all(|operand| operand.kind == Kind::Number)
    }

    /// Whether arguments of these types are those of the function.
    pub(super) fn takes(&self, types: &[Type]) -> bool {
        let wanted = self.args.iter().map(|arg| &arg.data_type);
        wanted.eq(types)
    }
}

/// The name of a function of two floats, by its key.
pub(crate) fn function_of_floats(key: &str) -> Option<&str> {
    let signature = Signature::parse(key)?;
    let is_float = |arg: &Operand| arg.kind == Kind::Number && arg.data_type.is_float();
    let is_of_two = signature.args.len() == 2 && signature.args.iter().any(is_float);
    (is_of_two && signature.is_of_numbers()).then_some(signature.name)
}

impl Operand {
    /// The type of that name, where times without a zone have `session`.
    fn parse(name: &str, session: &str) -> Option<Self> {
        let data_type = parse_data_type(name).ok()?;
        let plain = match &data_type {
            DataType::Nullable(inner) => inner.as_ref(),
            plain => plain,
        };
        let is_utc = |zone: &str| [Tz::UTC, Tz::Etc__UTC].iter().any(|utc| utc.name() == zone);
        let kind = match plain {
            DataType::LowCardinality(_) | DataType::Ipv4 => return None,
            DataType::Date => Kind::Date,
            DataType::Date32 => Kind::Date32,
            DataType::DateTime(zone) => Kind::DateTime {
                is_utc: is_utc(zone.map_or(session, |zone| zone.name())),
            },
            number if number.is_integer() || number.is_float() => Kind::Number,
            _ => return None,
        };
        let data_type = type_of(&plain.physical())?;
        Some(Self { kind, data_type })
    }
}
