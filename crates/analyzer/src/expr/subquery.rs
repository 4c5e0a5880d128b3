//! Evaluates scalar subqueries and EXISTS while the query is planned, unless they are correlated.

use std::rc::Rc;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::{DataType, TupleType};
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, StructArray, new_null_array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::LogicalPlanBuilder;

use super::{Resolver, literal};
use crate::query::recursive::refuse_work_tables;
use crate::query::{Outer, Planned};
use crate::scope::ScopeColumn;
use crate::{Typed, plan_error};

/// A planned subquery of an expression.
pub(crate) enum Subquery {
    /// It has the same rows wherever it stands.
    Plain(Planned),
    /// It uses `columns` of the query around it, which are its last columns, too.
    Correlated {
        planned: Planned,
        columns: Vec<ScopeColumn>,
    },
}

impl Resolver<'_> {
    /// Plans a subquery; if it turns out to use columns around it, once more with their values.
    pub(crate) fn subquery(&self, query: &ast::Query) -> Result<Subquery> {
        let (outer, wanted) = self.outer.with_columns(self.scope);
        let outer = self.with_own_aliases(outer);
        let mut columns: Vec<ScopeColumn> = Vec::new();
        loop {
            let outer = if columns.is_empty() {
                outer.clone()
            } else {
                let rows = self.rows.ok_or_else(|| {
                    Error::not_implemented("A correlated subquery in JOIN ON and the like")
                })?;
                outer.with_domain(self.analyzer.domain(rows, &columns)?)
            };
            match self.analyzer.query(query, &outer) {
                Ok(planned) if columns.is_empty() => return Ok(Subquery::Plain(planned)),
                Ok(planned) => return Ok(Subquery::Correlated { planned, columns }),
                Err(e) => {
                    let wanted = wanted.borrow();
                    if wanted.columns.len() == columns.len() {
                        return Err(if wanted.again {
                            Error::not_implemented(format!(
                                "A column of the query around in a deeper subquery ({})",
                                e.message()
                            ))
                        } else {
                            e
                        });
                    }
                    columns.clone_from(&wanted.columns);
                }
            }
        }
    }

    /// The chain with the aliases of this query, but those whose expressions are being resolved.
    fn with_own_aliases(&self, outer: Outer) -> Outer {
        let mut state = self.state.borrow_mut();
        let aliases = state.shared_aliases.get_or_insert_with(|| {
            let names = self.aliases.names();
            let expr = |name: &str| Some((name.to_owned(), self.aliases.get(name)?.clone()));
            Rc::new(names.filter_map(expr).collect())
        });
        match aliases.is_empty() {
            true => outer,
            false => outer.with_aliases(Rc::clone(aliases), state.alias_stack.clone()),
        }
    }

    /// `(SELECT …)` as a value: one row, several columns make a tuple, no row is NULL.
    pub(crate) fn scalar_subquery(&self, query: &ast::Query) -> Result<Typed> {
        let known = self.state.borrow();
        if let Some((_, value)) = known.scalars.iter().find(|(q, _)| q == query) {
            return Ok(value.clone());
        }
        drop(known);
        let value = match self.subquery(query)? {
            Subquery::Plain(planned) => self.scalar_value(planned)?,
            Subquery::Correlated { planned, columns } => {
                return self.correlated_scalar(planned, columns);
            }
        };
        let known = &mut self.state.borrow_mut().scalars;
        known.push((query.clone(), value.clone()));
        Ok(value)
    }

    fn scalar_value(&self, planned: Planned) -> Result<Typed> {
        let names: Vec<String> = planned.columns.iter().map(|c| c.name.clone()).collect();
        let (columns, types) = self.rows_of(planned, Some(2))?;
        let num_rows = columns.first().map_or(0, |c| c.len());
        if num_rows > 1 {
            return Err(Error::new(
                ErrorCode::INCORRECT_RESULT_OF_SCALAR_SUBQUERY,
                "Add LIMIT 1 or an aggregate: a scalar subquery returned more than one row",
            ));
        }
        if num_rows == 1 && columns.len() > 1 {
            return named_tuple(names, types, columns);
        }
        let mut values = Vec::with_capacity(columns.len());
        for (array, data_type) in columns.into_iter().zip(types) {
            if num_rows == 0 {
                let nullable = data_type.to_nullable();
                if !nullable.is_nullable() {
                    return Err(Error::new(
                        ErrorCode::INCORRECT_RESULT_OF_SCALAR_SUBQUERY,
                        format!(
                            "Scalar subquery returned no row for type {nullable}, which has no NULL"
                        ),
                    ));
                }
                values.push(Typed::constant(
                    new_null_array(&nullable.physical(), 1),
                    nullable,
                )?);
            } else {
                let nullable = data_type.clone().to_nullable();
                values.push(Typed::constant(array, nullable)?);
            }
        }
        match <[Typed; 1]>::try_from(values) {
            Ok([value]) => Ok(value),
            Err(values) => self.call_by_name("tuple", values),
        }
    }

    /// `EXISTS (SELECT …)`.
    pub(crate) fn exists(&self, args: &[ast::Expr]) -> Result<Typed> {
        let Some(ExprKind::Subquery(query)) = args.first().map(|a| &a.kind) else {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "EXISTS takes a subquery",
            ));
        };
        if let Some(exists) = self.known_subquery(query) {
            return literal::unsigned(u64::from(exists));
        }
        let planned = match self.subquery(query)? {
            Subquery::Plain(planned) => planned,
            Subquery::Correlated { planned, columns } => {
                return self.correlated_exists(planned, columns);
            }
        };
        let (columns, _) = self.rows_of(planned, Some(1))?;
        let exists = columns.first().is_some_and(|c| !c.is_empty());
        let known = &mut self.state.borrow_mut().exists;
        known.push((query.as_ref().clone(), exists));
        literal::unsigned(u64::from(exists))
    }

    /// What a resolved `exists(…)` was found to be, if it is the same for all rows.
    pub(crate) fn known_exists(&self, f: &ast::Function) -> Option<bool> {
        match f.args.as_slice() {
            [
                ast::Expr {
                    kind: ExprKind::Subquery(query),
                    ..
                },
            ] if f.name == "exists" => self.known_subquery(query),
            _ => None,
        }
    }

    fn known_subquery(&self, query: &ast::Query) -> Option<bool> {
        let known = &self.state.borrow().exists;
        Some(known.iter().find(|(q, _)| q == query)?.1)
    }

    /// Runs a subquery: its columns whole, with their types.
    pub(crate) fn rows_of(
        &self,
        planned: Planned,
        limit: Option<usize>,
    ) -> Result<(Vec<ArrayRef>, Vec<DataType>)> {
        refuse_work_tables(&planned.plan)?;
        let types: Vec<DataType> = planned.columns.into_iter().map(|c| c.data_type).collect();
        let plan = match limit {
            Some(n) => LogicalPlanBuilder::from(planned.plan)
                .limit(0, Some(n))
                .and_then(|b| b.build()),
            None => Ok(planned.plan),
        };
        let batches = self.analyzer.environment.run(plan.map_err(plan_error)?)?;
        let columns = types
            .iter()
            .enumerate()
            .map(|(i, t)| whole_column(&batches, i, t));
        Ok((columns.collect::<Result<_>>()?, types))
    }
}

/// A tuple of the columns' values, its elements named as they are.
fn named_tuple(names: Vec<String>, types: Vec<DataType>, columns: Vec<ArrayRef>) -> Result<Typed> {
    let data_type = DataType::Tuple(Arc::new(TupleType { types, names }));
    let ArrowType::Struct(fields) = data_type.physical() else {
        return Err(Error::bug("a tuple is a struct"));
    };
    let tuple = StructArray::try_new(fields, columns, None);
    Typed::constant(
        Arc::new(tuple.map_err(|e| Error::bug(e.to_string()))?),
        data_type,
    )
}

fn whole_column(batches: &[RecordBatch], idx: usize, data_type: &DataType) -> Result<ArrayRef> {
    let arrays: Vec<&dyn Array> = batches.iter().map(|b| b.column(idx).as_ref()).collect();
    match arrays.as_slice() {
        [] => Ok(datafusion::arrow::array::new_empty_array(
            &data_type.physical(),
        )),
        [_] => Ok(Arc::clone(batches[0].column(idx))),
        arrays => concat(arrays).map_err(|e| Error::bug(e.to_string())),
    }
}
