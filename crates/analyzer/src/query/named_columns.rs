//! Tells which columns of a table a query can name, before it is planned: of wide tables that is far less than all, and
//! planning takes time for each column.
//!
//! Only names count, wherever they stand: a column that shares no word with any of them cannot be meant. Where columns may
//! be meant without their names (`*`, NATURAL JOIN, `x IN table`, functions of the user's, names that are parameters),
//! all of them can.

use std::collections::HashSet;

use basalt_parser::ast::walk::Visitor;
use basalt_parser::ast::{Expr, ExprKind, Function, InterpolateItem, Join, MatcherPattern, Query};

use crate::environment::{Environment, TableColumn};
use crate::expr::in_set::is_in;

/// The columns that a query can name.
#[derive(Clone, Debug, Default)]
pub(crate) enum NamedColumns {
    /// All of any table.
    #[default]
    All,
    /// Those that have one of these words between their dots.
    Words(HashSet<String>),
}

impl NamedColumns {
    /// Of a query with all of its subqueries.
    pub(crate) fn of(query: &Query, environment: &dyn Environment) -> Self {
        let mut names = Names::new(environment);
        query.walk(&mut names);
        names.found()
    }

    /// Which columns of a table are named: those of the query, and those that its ALIAS columns are computed from; at least
    /// one that is stored.
    pub(crate) fn among(
        &self,
        columns: &[TableColumn],
        environment: &dyn Environment,
    ) -> Vec<bool> {
        let Self::Words(words) = self else {
            return vec![true; columns.len()];
        };
        let mut of_aliases = HashSet::new();
        let mut is_named = vec![false; columns.len()];
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for (column, is_named) in columns.iter().zip(&mut is_named) {
                let is_met = has_any(&column.name, words) || has_any(&column.name, &of_aliases);
                if *is_named || !is_met {
                    continue;
                }
                *is_named = true;
                if let Some(alias) = &column.alias {
                    let mut names = Names::new(environment);
                    alias.walk(&mut names);
                    let Self::Words(more) = names.found() else {
                        return vec![true; columns.len()];
                    };
                    of_aliases.extend(more);
                    is_done = false;
                }
            }
        }
        let is_stored = |c: &TableColumn| c.alias.is_none();
        let mut stored = columns.iter().zip(&is_named).filter(|(c, _)| is_stored(c));
        if !stored.any(|(_, is_named)| *is_named)
            && let Some(first) = columns.iter().position(is_stored)
        {
            is_named[first] = true;
        }
        is_named
    }
}

/// Whether a column may be meant by one of the words.
fn has_any(column: &str, words: &HashSet<String>) -> bool {
    words.contains(column) || column.split('.').any(|word| words.contains(word))
}

/// Collects the words of names.
struct Names<'a> {
    environment: &'a dyn Environment,
    words: HashSet<String>,
    are_all: bool,
}

impl<'a> Names<'a> {
    fn new(environment: &'a dyn Environment) -> Self {
        Self {
            environment,
            words: HashSet::new(),
            are_all: false,
        }
    }

    fn found(self) -> NamedColumns {
        match self.are_all {
            true => NamedColumns::All,
            false => NamedColumns::Words(self.words),
        }
    }

    fn add(&mut self, name: &str) {
        for word in name.split('.') {
            if !self.words.contains(word) {
                self.words.insert(word.to_owned());
            }
        }
    }

    /// Whether the parts of a call are to be looked at.
    fn function(&mut self, function: &Function) -> bool {
        let set = function.args.last().filter(|_| is_in(&function.name));
        let set = set.map(|set| &set.unaliased().kind);
        // A table, which may be the one around.
        let of_table = matches!(set, Some(ExprKind::Identifier(_)));
        let is_users = || self.environment.sql_function(&function.name).is_some();
        self.are_all |= of_table || is_users();
        !is_count_of_rows(function)
    }
}

impl Visitor for Names<'_> {
    fn expr(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Identifier(parts) => parts.iter().for_each(|part| self.add(part)),
            ExprKind::Function(function) => return self.function(function),
            ExprKind::Matcher(_) | ExprKind::ParameterName(_) => self.are_all = true,
            ExprKind::QueryParameter(parameter) => {
                self.are_all |= parameter.data_type.name.eq_ignore_ascii_case("Identifier");
            }
            ExprKind::Literal(_)
            | ExprKind::Array(_)
            | ExprKind::Tuple(_)
            | ExprKind::Lambda(_)
            | ExprKind::Subquery(_)
            | ExprKind::Alias { .. } => {}
        }
        !self.are_all
    }

    fn join(&mut self, join: &Join) {
        self.are_all |= join.natural;
    }

    fn interpolated(&mut self, item: &InterpolateItem) {
        self.add(&item.column);
    }
}

/// `count(*)`, which asks for no column.
fn is_count_of_rows(function: &Function) -> bool {
    let [
        Expr {
            kind: ExprKind::Matcher(matcher),
            ..
        },
    ] = function.args.as_slice()
    else {
        return false;
    };
    function.name.eq_ignore_ascii_case("count")
        && matcher.pattern == MatcherPattern::All
        && matcher.qualifier.is_none()
        && matcher.transformers.is_empty()
        && function.over.is_none()
}
