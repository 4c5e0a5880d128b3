//! Holds the columns in sight of an expression and finds them by name.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::registry::nearest;
use basalt_parser::ast::TableSource;
use basalt_types::DataType;

use crate::Typed;
use crate::subcolumn::has_part;

/// A column that expressions can name.
#[derive(Clone, Debug)]
pub struct ScopeColumn {
    /// The table's alias or name, its database before it: `["db", "t"]`.
    pub qualifier: Vec<String>,
    /// Name of the column in its table.
    pub name: String,
    /// Name in the plan, unique in the query.
    pub internal: String,
    /// Type of the column.
    pub data_type: DataType,
    /// Whether `*` leaves it out.
    pub hidden: bool,
    /// Whether USING merged it with a column of the other side: only its table's name leads to it.
    pub merged: bool,
    /// The table expression that it comes from, if there is more than one join: then its name must
    /// not be that of another table's column as well, unless the tables are written alike.
    pub origin: Option<Arc<TableSource>>,
    /// The array, in place of whose name ARRAY JOIN put this column: what `table.*` means.
    pub array: Option<Box<ScopeColumn>>,
}

impl ScopeColumn {
    /// Whether `*` shows it.
    pub fn is_shown(&self) -> bool {
        !self.hidden && !self.merged
    }

    /// Whether it is one of the table's own columns, also if `*` leaves it out: ALIAS and MATERIALIZED ones.
    pub(crate) fn is_declared(&self) -> bool {
        !self.merged && !self.is_joined_element() && !self.name.starts_with('_')
    }

    /// Whether ARRAY JOIN gave the name, which hides the tables' columns of that name.
    fn is_array_join_alias(&self) -> bool {
        self.hidden && self.qualifier.is_empty()
    }

    /// Whether ARRAY JOIN made it of an array.
    pub(crate) fn is_joined_element(&self) -> bool {
        self.array.is_some() || self.is_array_join_alias()
    }

    fn is_of_nested(&self) -> bool {
        matches!(self.data_type, DataType::Array(_)) || self.is_joined_element()
    }

    /// The column as an expression.
    pub fn typed(&self) -> Typed {
        Typed::column(&self.internal, self.data_type.clone())
    }
}

/// The columns in sight, in the order of `*`.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The columns.
    pub columns: Vec<ScopeColumn>,
}

impl Scope {
    /// The column that `parts` name, and how many of the parts it took: the rest are elements of
    /// a tuple.
    ///
    /// # Errors
    /// `AMBIGUOUS_IDENTIFIER` if several of more than two tables have it.
    pub fn find(&self, parts: &[String]) -> Result<Option<(&ScopeColumn, usize)>> {
        Names::new(self).find(parts)
    }

    /// Makes `origin` the table expression of all columns.
    pub(crate) fn set_origin(&mut self, origin: &TableSource) {
        let origin = Arc::new(origin.clone());
        for column in &mut self.columns {
            column.origin = Some(Arc::clone(&origin));
        }
    }

    /// Columns of the table that `qualifier` names; all for an empty one.
    pub fn of_table<'a>(
        &'a self,
        qualifier: &'a [String],
    ) -> impl Iterator<Item = &'a ScopeColumn> {
        self.columns
            .iter()
            .filter(move |c| c.qualifier.ends_with(qualifier))
    }

    /// The columns `n.a`, `n.b` of the Nested that `parts` name, all of one table, each after the rest of
    /// its name; none if there is no such.
    pub(crate) fn nested<'s>(&'s self, parts: &[String]) -> Vec<(&'s str, &'s ScopeColumn)> {
        let longest = self.columns.iter().map(|c| c.qualifier.len()).max();
        for taken in 0..parts.len().min(longest.unwrap_or(0) + 1) {
            let (qualifier, name) = parts.split_at(taken);
            let prefix = format!("{}.", name.join("."));
            let columns = self.columns.iter();
            let mut elements: Vec<_> = columns
                .filter(|c| c.qualifier.ends_with(qualifier))
                .filter_map(|column| Some((column.name.strip_prefix(&prefix)?, column)))
                .filter(|(_, column)| column.is_of_nested())
                .collect();
            // What ARRAY JOIN added hides the tables' own.
            let added = elements.iter().find(|(_, c)| c.is_array_join_alias());
            if let Some((_, first)) = added.or(elements.first()) {
                let qualifier = first.qualifier.clone();
                elements.retain(|(_, column)| column.qualifier == qualifier);
                return elements;
            }
        }
        Vec::new()
    }

    /// The error for a name that is no column, with near names.
    pub fn unknown(&self, parts: &[String], more: &[&str]) -> Error {
        let name = parts.join(".");
        let wanted = parts.last().map_or("", String::as_str);
        let names = self
            .columns
            .iter()
            .map(|c| c.name.as_str())
            .chain(more.iter().copied());
        let near: Vec<String> = nearest(wanted, names)
            .into_iter()
            .map(|n| format!("'{n}'"))
            .collect();
        let hint = if near.is_empty() {
            String::new()
        } else {
            format!("Maybe you meant: [{}]. ", near.join(", "))
        };
        Error::new(
            ErrorCode::UNKNOWN_IDENTIFIER,
            format!("{hint}Unknown expression identifier `{name}`"),
        )
    }
}

/// The column that `parts` name. Several tables may have it: the first that `*` shows is meant, as
/// with the merged columns of USING.
fn meant<'a>(
    columns: impl Iterator<Item = &'a ScopeColumn>,
    parts: &[String],
) -> Result<Option<&'a ScopeColumn>> {
    let matching: Vec<_> = columns.filter(|c| c.is_named(parts)).collect();
    if let Some(alias) = matching.iter().rfind(|c| c.is_array_join_alias()) {
        return Ok(Some(alias));
    }
    let mut matching = matching.into_iter();
    let Some(mut first) = matching.next() else {
        return Ok(None);
    };
    if first.hidden && !first.is_declared() {
        match matching.find(|c| !c.hidden) {
            Some(shown) => first = shown,
            None => return Ok(Some(first)),
        }
    }
    let Some(origin) = &first.origin else {
        return Ok(Some(first));
    };
    let mut others = matching.filter(|c| !c.hidden).flat_map(|c| &c.origin);
    if others.any(|other| other != origin) {
        return Err(Error::new(
            ErrorCode::AMBIGUOUS_IDENTIFIER,
            format!(
                "Write the table's name before it: several tables have a column `{}`",
                parts.join(".")
            ),
        ));
    }
    Ok(Some(first))
}

/// Finds the columns of a scope by hash tables: a query may name thousands of thousands.
pub(crate) struct Names<'a> {
    pub(crate) scope: &'a Scope,
    by_name: OnceCell<HashMap<&'a str, Vec<usize>>>,
    by_internal: OnceCell<HashMap<&'a str, usize>>,
    /// Most parts that a name of a column can have.
    max_parts: OnceCell<usize>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(scope: &'a Scope) -> Self {
        Self {
            scope,
            by_name: OnceCell::new(),
            by_internal: OnceCell::new(),
            max_parts: OnceCell::new(),
        }
    }

    /// As [`Scope::find`].
    pub(crate) fn find(&self, parts: &[String]) -> Result<Option<(&'a ScopeColumn, usize)>> {
        let most = *self.max_parts.get_or_init(|| {
            let columns = self.scope.columns.iter();
            columns.map(ScopeColumn::max_parts).max().unwrap_or(0)
        });
        for taken in (1..=parts.len().min(most)).rev() {
            // A name may have dots of its own.
            let mut candidates: Vec<usize> = (0..taken)
                .flat_map(|i| match &parts[i..taken] {
                    [name] => self.of_name(name),
                    several => self.of_name(&several.join(".")),
                })
                .copied()
                .collect();
            candidates.sort_unstable();
            let columns = candidates.into_iter().map(|i| &self.scope.columns[i]);
            if let Some(column) = meant(columns, &parts[..taken])? {
                let element = self.with_element(parts, taken, column);
                return Ok(element.or(Some((column, taken))));
            }
        }
        Ok(None)
    }

    /// The column that has an element of the name, where `parts` could mean `column` with its table's name:
    /// in one table, and in those before it, columns come before the name of the table.
    fn with_element(
        &self,
        parts: &[String],
        taken: usize,
        column: &ScopeColumn,
    ) -> Option<(&'a ScopeColumn, usize)> {
        let last_of_table = || {
            let same = |c: &ScopeColumn| c.qualifier == column.qualifier;
            self.scope.columns.iter().rposition(same)
        };
        if column.name == parts[..taken].join(".") {
            return None;
        }
        (1..taken).rev().find_map(|fewer| {
            let named = self.of_name(&parts[..fewer].join("."));
            let mut named = named.iter().copied();
            let index = named.find(|i| {
                let candidate = &self.scope.columns[*i];
                candidate.is_shown() && has_part(&candidate.data_type, &parts[fewer..])
            })?;
            (index <= last_of_table()?).then(|| (&self.scope.columns[index], fewer))
        })
    }

    /// Whether [`Names::find`] has an answer, or too many.
    pub(crate) fn has(&self, parts: &[String]) -> bool {
        !matches!(self.find(parts), Ok(None))
    }

    /// Positions of the columns of that name, ascending.
    pub(crate) fn of_name(&self, name: &str) -> &[usize] {
        let by_name = self.by_name.get_or_init(|| {
            let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
            for (i, column) in self.scope.columns.iter().enumerate() {
                by_name.entry(&column.name).or_default().push(i);
            }
            by_name
        });
        by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Position of the first column of that name in the plan.
    pub(crate) fn position(&self, internal: &str) -> Option<usize> {
        let by_internal = self.by_internal.get_or_init(|| {
            let columns = self.scope.columns.iter().enumerate().rev();
            columns.map(|(i, c)| (c.internal.as_str(), i)).collect()
        });
        by_internal.get(internal).copied()
    }
}

impl ScopeColumn {
    /// Most parts that can name it: longer names are those of its elements.
    fn max_parts(&self) -> usize {
        self.qualifier.len() + 1 + self.name.bytes().filter(|b| *b == b'.').count()
    }

    /// Whether `parts` are the name, or a suffix of the qualifier and the name. Names may have
    /// dots themselves.
    fn is_named(&self, parts: &[String]) -> bool {
        let first = usize::from(self.merged);
        (first..parts.len()).any(|i| {
            self.qualifier.ends_with(&parts[..i])
                && if parts.len() - i == 1 {
                    self.name == parts[i]
                } else {
                    self.name.contains('.') && self.name == parts[i..].join(".")
                }
        })
    }
}
