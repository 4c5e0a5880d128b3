//! Resolves names: lambda parameters, aliases, columns, elements of tuples.

use basalt_error::{Error, ErrorCode, Result};

use basalt_parser::ast;
use basalt_types::DataType;

use super::cast::constant_text;
use super::{Resolver, literal};
use crate::Typed;
use crate::scope::ScopeColumn;
use crate::subcolumn::is_part_of_elements;

/// First part of the names that matchers make for exactly one column of the scope: no user's
/// identifier can be it.
pub(crate) const EXACT_COLUMN: &str = "\0column";

/// As [`EXACT_COLUMN`], for the array that the column was before ARRAY JOIN.
pub(crate) const ARRAY_OF_COLUMN: &str = "\0array";

/// Functions of the SQL standard that may be written like a column, where no column has the name.
const CALLED_WITHOUT_BRACKETS: &[&str] = &[
    "now",
    "current_timestamp",
    "localtimestamp",
    "today",
    "curdate",
    "current_date",
    "user",
    "current_user",
    "session_user",
    "current_database",
];

impl Resolver<'_> {
    /// What `parts`, separated by dots in the query, name.
    pub(crate) fn identifier(&self, parts: &[String]) -> Result<Typed> {
        if let Some(column) = self.exact_column(parts) {
            return Ok(column.typed());
        }
        let first = parts.first().map_or("", String::as_str);
        // A value without such an element leaves the rest of the name to others, as below.
        let mut no_element = None;
        if let Some(value) = self.of_lambda(first)? {
            match self.elements(value, &parts[1..]) {
                Err(e) if e.code() == ErrorCode::UNKNOWN_IDENTIFIER => no_element = Some(e),
                found => return found,
            }
        }
        let is_column = self.names.has(parts);
        let column_first = self.analyzer.flag("prefer_column_name_to_alias");
        if is_column && parts.len() > 1 {
            if !column_first && let Some(element) = self.element_of_alias(parts)? {
                return Ok(element);
            }
        } else if !(column_first && is_column)
            && let Some(typed) = self.alias(first)?
        {
            return self.elements(typed, &parts[1..]);
        }
        if let Some((column, taken)) = self.names.find(parts)? {
            match self.elements(column.typed(), &parts[taken..]) {
                Err(e) if e.code() == ErrorCode::UNKNOWN_IDENTIFIER => no_element = Some(e),
                found => return found,
            }
        }
        if let Some(expr) = self.outer.expression(first) {
            return self.elements(self.resolve(expr)?, &parts[1..]);
        }
        if let Some(typed) = self.alias_around(first)? {
            return self.elements(typed, &parts[1..]);
        }
        let lower = first.to_ascii_lowercase();
        if parts.len() == 1 && CALLED_WITHOUT_BRACKETS.contains(&lower.as_str()) {
            return self.call_by_name(&lower, Vec::new());
        }
        if let Some(nested) = self.nested(parts)? {
            return Ok(nested);
        }
        // What an INSERT leaves out of a Nested is computed by its whole name.
        if parts.len() > 1
            && let Some(typed) = self.alias(&parts.join("."))?
        {
            return Ok(typed);
        }
        if let Some(part) = self.quoted_part(parts)? {
            return Ok(part);
        }
        self.outer.want_column(parts);
        let names: Vec<&str> = self.aliases.names().collect();
        Err(no_element.unwrap_or_else(|| self.scope.unknown(parts, &names)))
    }

    /// A part of a value whose name is quoted as a whole with that of its column: `` `array.size0` ``.
    fn quoted_part(&self, parts: &[String]) -> Result<Option<Typed>> {
        let Some((last, qualifier)) = parts.split_last() else {
            return Ok(None);
        };
        let mut split = qualifier.to_vec();
        split.extend(last.split('.').map(str::to_owned));
        let is_column =
            last.contains('.') && !self.names.of_name(&split[qualifier.len()]).is_empty();
        if !is_column {
            return Ok(None);
        }
        match self.names.find(&split)? {
            Some((column, taken)) => self.elements(column.typed(), &split[taken..]).map(Some),
            None => Ok(None),
        }
    }

    /// The column that a matcher means.
    fn exact_column(&self, parts: &[String]) -> Option<&ScopeColumn> {
        let [marker, index] = parts else {
            return None;
        };
        let column = || self.scope.columns.get(index.parse::<usize>().ok()?);
        match marker.as_str() {
            EXACT_COLUMN => column(),
            ARRAY_OF_COLUMN => column()?.array.as_deref(),
            _ => None,
        }
    }

    /// An element of the expression that the first part is an alias of, where the whole is also a column of a
    /// table: the table's alias may be the same word, `SELECT t.a AS t FROM t`.
    fn element_of_alias(&self, parts: &[String]) -> Result<Option<Typed>> {
        if self.aliases.get(&parts[0]).is_none() {
            return Ok(None);
        }
        {
            let state = &mut *self.state.borrow_mut();
            if let Some(place) = state.alias_stack.iter().position(|a| *a == parts[0]) {
                state.has_crossed |= place + 1 < state.alias_stack.len();
                return Ok(None);
            }
        }
        let before = (
            self.mentions.borrow().clone(),
            self.array_joins.borrow().len(),
            self.correlated.borrow().len(),
            self.state.borrow().alias_cache.clone(),
        );
        let typed = match self.alias(&parts[0]) {
            Err(e) if e.is_of_run() => return Err(e),
            typed => typed.ok().flatten(),
        };
        let element = typed.and_then(|typed| self.elements(typed, &parts[1..]).ok());
        if element.is_none() {
            // What the expression asks for is asked for where it stands itself.
            *self.mentions.borrow_mut() = before.0;
            self.array_joins.borrow_mut().truncate(before.1);
            self.correlated.borrow_mut().truncate(before.2);
            self.state.borrow_mut().alias_cache = before.3;
        }
        Ok(element)
    }

    /// An alias of a query around: its expression, as if it stood here.
    fn alias_around(&self, name: &str) -> Result<Option<Typed>> {
        let Some(expr) = self.outer.alias(name) else {
            return Ok(None);
        };
        {
            let open = &mut self.state.borrow_mut().outer_aliases;
            if open.iter().any(|n| n == name) {
                return Ok(None);
            }
            open.push(name.to_owned());
        }
        let typed = self.resolve(expr);
        self.state.borrow_mut().outer_aliases.pop();
        typed.map(Some)
    }

    /// `expr AS name` where it stands: inside, `name` means the column.
    pub(crate) fn aliased(&self, expr: &ast::Expr, name: &str) -> Result<Typed> {
        if let Some(typed) = self.aliased_in_lambda(expr, name)? {
            return Ok(typed);
        }
        let is_open = self.state.borrow().alias_stack.iter().any(|a| a == name);
        let is_it = self.aliases.get(name).is_some_and(|known| known == expr);
        if is_it
            && !is_open
            && let Some(typed) = self.alias(name)?
        {
            return Ok(typed);
        }
        self.resolve(expr)
    }

    /// Resolves expressions in which these names mean columns, whatever they are aliases of.
    pub(crate) fn meaning_columns<T>(
        &self,
        names: Vec<String>,
        resolve: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let len = self.state.borrow().alias_stack.len();
        self.state.borrow_mut().alias_stack.extend(names);
        let resolved = resolve();
        self.state.borrow_mut().alias_stack.truncate(len);
        resolved
    }

    fn alias(&self, name: &str) -> Result<Option<Typed>> {
        let Some(expr) = self.aliases.get(name) else {
            return Ok(None);
        };
        let is_changed = self.is_changed_by_lambdas(expr);
        let in_lambda = {
            let mut state = self.state.borrow_mut();
            if let Some(place) = state.alias_stack.iter().position(|a| a == name) {
                state.has_crossed |= place + 1 < state.alias_stack.len();
                let known = self.names.has(&[name.to_owned()]);
                return if known { Ok(None) } else { Err(cyclic(name)) };
            }
            if !is_changed && let Some((typed, size)) = state.alias_cache.get(name) {
                self.analyzer.count_expanded(*size)?;
                return Ok(Some(typed.clone()));
            }
            !state.lambda_frames.is_empty()
        };
        self.state.borrow_mut().alias_stack.push(name.to_owned());
        let expanded_before = self.analyzer.expanded();
        let result = self.resolve(expr);
        let size = self.analyzer.expanded() - expanded_before;
        let mut state = self.state.borrow_mut();
        state.alias_stack.pop();
        let typed = result?;
        // Inside another alias of the same name a column may have been meant instead: aliases that
        // lead to each other mean different things inside each other.
        if state.alias_stack.is_empty() {
            let has_crossed = std::mem::take(&mut state.has_crossed);
            if !in_lambda && !has_crossed {
                state
                    .alias_cache
                    .insert(name.to_owned(), (typed.clone(), size));
            }
        }
        Ok(Some(typed))
    }

    /// `t.a.b`: elements of tuples by name, and what other types are made of.
    fn elements(&self, mut typed: Typed, names: &[String]) -> Result<Typed> {
        for name in names {
            if let Some(part) = self.subcolumn(&typed, name)? {
                typed = part;
                continue;
            }
            let element = literal::string(name.as_bytes())?;
            let found = self.call_by_name("tupleElement", vec![typed, element]);
            typed = found.map_err(|e| Error::new(ErrorCode::UNKNOWN_IDENTIFIER, e.message()))?;
        }
        Ok(typed)
    }
}

impl Resolver<'_> {
    /// The part of that name that values of a type have which is no tuple: `array.size0`.
    fn subcolumn(&self, typed: &Typed, name: &str) -> Result<Option<Typed>> {
        let call = |function| self.call_by_name(function, vec![typed.clone()]);
        let part = match (&typed.data_type, name) {
            (DataType::Nullable(_), "null") => call("isNull")?,
            (DataType::Array(_) | DataType::Map(..), "size0") => call("length")?,
            (DataType::Map(..), "keys") => call("mapKeys")?,
            (DataType::Map(..), "values") => call("mapValues")?,
            (DataType::String, "size") => call("length")?,
            (DataType::Nullable(inner), "size") if **inner == DataType::String => call("length")?,
            (DataType::Map(key, _), _) if name.starts_with("key_") => {
                let text = literal::string(&name.as_bytes()["key_".len()..])?;
                let key = text.cast_to(key, self.analyzer)?;
                self.call_by_name("arrayElement", vec![typed.clone(), key])?
            }
            (DataType::Array(element), _) if is_part_of_elements(element, name) => {
                self.of_elements(typed, name)?
            }
            (DataType::Variant(types), _) if types.iter().any(|t| t.to_string() == name) => {
                let wanted = literal::string(name.as_bytes())?;
                self.call_by_name("variantElement", vec![typed.clone(), wanted])?
            }
            _ => return Ok(None),
        };
        Ok(Some(part))
    }
}

impl Resolver<'_> {
    /// `array.size1`, `array.null`: the part of each element.
    fn of_elements(&self, array: &Typed, name: &str) -> Result<Typed> {
        let part = match name.strip_prefix("size").map(str::parse::<usize>) {
            Some(Ok(depth)) => format!("size{}", depth.saturating_sub(1)),
            _ => name.to_owned(),
        };
        let at = |kind| ast::Expr {
            kind,
            span: ast::Span::default(),
        };
        let (all, each) = ("\u{3bb}array".to_owned(), "\u{3bb}element".to_owned());
        let body = at(ast::ExprKind::Identifier(vec![each.clone(), part]));
        let lambda = ast::Lambda {
            params: vec![each],
            body,
        };
        let call = ast::Function {
            name: "arrayMap".to_owned(),
            params: None,
            args: vec![
                at(ast::ExprKind::Lambda(Box::new(lambda))),
                at(ast::ExprKind::Identifier(vec![all.clone()])),
            ],
            form: ast::FunctionForm::Call,
            nulls: None,
            over: None,
        };
        let call = at(ast::ExprKind::Function(Box::new(call)));
        self.with_lambda(vec![(all, array.clone())], &call, || self.resolve(&call))
    }

    /// `getSubcolumn(x, 'a.b')`.
    pub(crate) fn get_subcolumn(&self, args: Vec<Typed>) -> Result<Typed> {
        let [value, name] = <[Typed; 2]>::try_from(args).map_err(|_| {
            Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                "Function getSubcolumn takes 2 arguments: a value and a name",
            )
        })?;
        let name = constant_text(&name).ok_or_else(|| {
            Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                "The second argument of getSubcolumn must be a constant string",
            )
        })?;
        let data_type = value.data_type.clone();
        let names: Vec<String> = name.split('.').map(str::to_owned).collect();
        self.elements(value, &names).map_err(|_| {
            Error::new(
                ErrorCode::ILLEGAL_COLUMN,
                format!("There is no subcolumn {name} in type {data_type}"),
            )
        })
    }
}

fn cyclic(name: &str) -> Error {
    Error::new(
        ErrorCode::UNKNOWN_IDENTIFIER,
        format!("Alias `{name}` uses itself and no column has that name"),
    )
}
