//! Writes queries.

use super::Writer;
use super::text::{backticked, quoted};
use crate::ast::{
    Distinct, Expr, ExprKind, GroupBy, GroupByKind, IntoOutfile, LimitBy, LimitRange, OrderBy,
    OrderItem, OutputOptions, Query, Select, SetExpr, SetOperator, Setting, WithFill, WithItem,
};

impl Writer {
    pub(super) fn query(&mut self, query: &Query) {
        self.query_body(&query.body);
        self.output(&query.output);
    }

    pub(super) fn query_body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Nested(inner) => self.block(|w| w.query_body(inner)),
            SetExpr::Operation { operator, branches } => {
                self.set_operation(*operator, branches, [false, false]);
            }
        }
    }

    /// Branches of a set operation; `except` tells on which sides of it EXCEPT stands.
    fn set_operation(&mut self, operator: SetOperator, branches: &[SetExpr], except: [bool; 2]) {
        let is_except = set_operator(operator).starts_with("EXCEPT");
        for (i, branch) in branches.iter().enumerate() {
            if i > 0 {
                self.line();
                self.put(set_operator(operator));
                self.line();
            }
            let is_last = i + 1 == branches.len();
            let before = if i == 0 { except[0] } else { is_except };
            let after = if is_last { except[1] } else { is_except };
            match branch {
                SetExpr::Operation { operator, branches } => {
                    self.set_operation(*operator, branches, [before, after]);
                }
                // ClickHouse writes parentheses around a SELECT beside EXCEPT.
                SetExpr::Select(select) if before || after => self.block(|w| w.select(select)),
                other => self.query_body(other),
            }
        }
    }

    #[inline(never)]
    pub(super) fn select(&mut self, s: &Select) {
        self.with(s);
        self.put("SELECT");
        self.put_if(s.distinct == Distinct::All, " DISTINCT");
        self.select_columns(&s.columns);
        self.from(&s.from);
        self.clause("PREWHERE", s.prewhere.as_ref());
        self.clause("WHERE", s.where_.as_ref());
        self.group_by(s);
        self.clause("HAVING", s.having.as_ref());
        if !s.windows.is_empty() {
            self.line();
            self.put("WINDOW");
            self.list(&s.windows, |w, window| {
                w.put_name(&window.name);
                w.put(" AS ");
                w.window_spec(&window.spec);
            });
        }
        self.clause("QUALIFY", s.qualify.as_ref());
        if let Some(order_by) = &s.order_by {
            self.order_by(order_by);
        }
        self.limits(s);
        self.settings_line(&s.settings);
    }

    /// A projection's query; its sorting key has no directions.
    pub(super) fn projection_query(&mut self, s: &Select) {
        self.with(s);
        self.put("SELECT");
        self.select_columns(&s.columns);
        self.clause("WHERE", s.where_.as_ref());
        self.group_by(s);
        if let Some(OrderBy::Items { items, .. }) = &s.order_by {
            self.line();
            self.put("ORDER BY");
            self.list(items, |w, item| {
                w.expr(&item.expr);
                w.put_if(item.descending, " DESC");
            });
        }
    }

    /// Columns; a lambda that is not the first one stands in parentheses.
    fn select_columns(&mut self, columns: &[Expr]) {
        let mut index = 0;
        self.indented_if(columns.len() == 1, |w| {
            w.list(columns, |w, e| {
                match &e.kind {
                    ExprKind::Matcher(matcher) if !e.span.parenthesised => {
                        w.matcher_column(matcher)
                    }
                    _ => w.element(index, e),
                }
                index += 1;
            });
        });
    }

    fn clause(&mut self, keyword: &str, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.line();
            self.put(keyword);
            self.put(" ");
            self.aliased(expr);
        }
    }

    fn with(&mut self, s: &Select) {
        if s.with.is_empty() {
            return;
        }
        self.put(if s.recursive {
            "WITH RECURSIVE"
        } else {
            "WITH"
        });
        if self.is_one_line() {
            self.put(" ");
            self.commas(&s.with, |w, item| w.with_item(item));
        } else {
            self.indented(|w| {
                for (i, item) in s.with.iter().enumerate() {
                    w.put_if(i > 0, ",");
                    w.line();
                    w.with_item(item);
                }
            });
        }
        self.line();
    }

    fn with_item(&mut self, item: &WithItem) {
        match item {
            WithItem::Expr(expr) => self.aliased(expr),
            WithItem::Subquery {
                name,
                columns,
                materialized,
                query,
            } => {
                self.put_name(name);
                if !columns.is_empty() {
                    self.parentheses(columns, |w, column| w.put_name(column));
                }
                self.put(" AS");
                self.put_if(*materialized, " MATERIALIZED");
                self.line();
                self.block(|w| w.query_body(&query.body));
            }
        }
    }

    fn group_by(&mut self, s: &Select) {
        match &s.group_by {
            Some(GroupBy::All(kind)) => {
                self.line();
                self.put("GROUP BY ALL");
                self.group_by_kind(*kind);
            }
            Some(GroupBy::Exprs { kind, exprs }) => {
                self.line();
                self.put("GROUP BY");
                self.list(exprs, |w, e| w.aliased(e));
                self.group_by_kind(*kind);
            }
            Some(GroupBy::GroupingSets(sets)) => self.grouping_sets(sets),
            None => {}
        }
        if s.with_totals {
            self.group_modifier("WITH TOTALS");
        }
    }

    fn group_by_kind(&mut self, kind: GroupByKind) {
        match kind {
            GroupByKind::Plain => {}
            GroupByKind::Rollup => self.group_modifier("WITH ROLLUP"),
            GroupByKind::Cube => self.group_modifier("WITH CUBE"),
        }
    }

    fn group_modifier(&mut self, words: &str) {
        self.indented(|w| {
            w.line();
            w.put(words);
        });
    }

    fn grouping_sets(&mut self, sets: &[Vec<Expr>]) {
        self.line();
        self.put("GROUP BY");
        self.indented(|w| {
            w.line();
            w.put("GROUPING SETS (");
            w.indented(|w| {
                for (i, set) in sets.iter().enumerate() {
                    w.put_if(i > 0, ",");
                    if i > 0 {
                        w.line();
                    } else if sets.len() > 1 {
                        w.soft_line();
                    }
                    w.parentheses(set, |w, e| w.aliased(e));
                }
            });
            w.put(")");
        });
    }

    fn order_by(&mut self, order_by: &OrderBy) {
        self.line();
        self.put("ORDER BY");
        match order_by {
            OrderBy::All(item) => {
                self.put(" ALL");
                self.order_suffix(item);
            }
            OrderBy::Items { items, interpolate } => {
                self.list(items, |w, item| w.order_item(item));
                if let Some(interpolate) = interpolate {
                    self.line();
                    self.put("INTERPOLATE");
                    if !interpolate.is_empty() {
                        self.put(" ");
                        self.parentheses(interpolate, |w, item| {
                            w.put(&backticked(&item.column));
                            if let Some(expr) = &item.expr {
                                w.put(" AS ");
                                w.expr(expr);
                            }
                        });
                    }
                }
            }
        }
    }

    pub(super) fn order_item(&mut self, item: &OrderItem) {
        self.aliased(&item.expr);
        self.order_suffix(item);
    }

    pub(super) fn order_suffix(&mut self, item: &OrderItem) {
        self.put(if item.descending { " DESC" } else { " ASC" });
        match item.nulls_first {
            Some(true) => self.put(" NULLS FIRST"),
            Some(false) => self.put(" NULLS LAST"),
            None => {}
        }
        if let Some(collate) = &item.collate {
            self.put(" COLLATE ");
            self.put(&quoted(collate.as_bytes()));
        }
        if let Some(fill) = &item.with_fill {
            self.with_fill(fill);
        }
    }

    fn with_fill(&mut self, fill: &WithFill) {
        self.put(" WITH FILL");
        let parts = [
            (" FROM ", &fill.from),
            (" TO ", &fill.to),
            (" STEP ", &fill.step),
            (" STALENESS ", &fill.staleness),
        ];
        for (word, expr) in parts {
            if let Some(expr) = expr {
                self.put(word);
                self.expr(expr);
            }
        }
    }

    fn limits(&mut self, s: &Select) {
        if let Some(limit_by) = &s.limit_by {
            self.limit_by(limit_by);
        }
        match (&s.limit, &s.offset) {
            (Some(limit), offset) => {
                self.line();
                self.put("LIMIT ");
                if let Some(offset) = offset {
                    self.expr(offset);
                    self.put(", ");
                }
                self.expr(limit);
                if s.with_ties {
                    self.line();
                    self.put(" WITH TIES");
                }
            }
            (None, _) if s.limit_range.is_some() => {
                self.line();
                self.put("LIMIT");
            }
            (None, Some(offset)) => {
                self.line();
                self.put("OFFSET ");
                self.expr(offset);
            }
            (None, None) => {}
        }
        if let Some(range) = &s.limit_range {
            self.limit_range(range);
        }
    }

    fn limit_range(&mut self, range: &LimitRange) {
        if let Some(after) = &range.after {
            self.line();
            self.put(" AFTER ");
            self.aliased(after);
            self.put_if(range.all, " ALL");
        }
        if let Some(until) = &range.until {
            self.line();
            self.put(" UNTIL ");
            self.aliased(until);
        }
    }

    fn limit_by(&mut self, limit_by: &LimitBy) {
        self.line();
        self.put("LIMIT ");
        if let Some(offset) = &limit_by.offset {
            self.expr(offset);
            self.put(", ");
        }
        self.expr(&limit_by.limit);
        self.put(" BY");
        if limit_by.all {
            self.put(" ALL");
        } else {
            self.list(&limit_by.by, |w, e| w.aliased(e));
        }
    }

    pub(super) fn settings_line(&mut self, settings: &[Setting]) {
        if !settings.is_empty() {
            self.line();
            self.put("SETTINGS ");
            self.settings(settings);
        }
    }

    pub(super) fn settings(&mut self, settings: &[Setting]) {
        self.commas(settings, |w, setting| {
            for (i, part) in setting.name.split('.').enumerate() {
                w.put_if(i > 0, ".");
                w.put_name(part);
            }
            if setting.is_flag {
                return;
            }
            w.put(" = ");
            match &setting.value {
                Some(value) => w.setting_value(value),
                None => w.put("DEFAULT"),
            }
        });
    }

    /// A constant; a map is written as `{'a':1}`.
    pub(super) fn setting_value(&mut self, value: &Expr) {
        let ExprKind::Function(f) = &value.kind else {
            return self.expr(value);
        };
        let is_map = f.name == "map"
            && f.args.len() % 2 == 0
            && f.args
                .iter()
                .step_by(2)
                .all(|key| key.as_string().is_some());
        if !is_map {
            return self.expr(value);
        }
        self.put("{");
        for (i, pair) in f.args.chunks(2).enumerate() {
            self.put_if(i > 0, ", ");
            if let [key, value] = pair {
                self.expr(key);
                self.put(":");
                self.setting_value(value);
            }
        }
        self.put("}");
    }

    pub(super) fn output(&mut self, output: &OutputOptions) {
        if let Some(outfile) = &output.into_outfile {
            self.line();
            self.put("INTO OUTFILE ");
            self.outfile(outfile);
        }
        if let Some(format) = &output.format {
            self.line();
            self.put("FORMAT ");
            self.put_name(format);
        }
        self.settings_line(&output.settings);
    }

    pub(super) fn outfile(&mut self, outfile: &IntoOutfile) {
        self.expr(&outfile.path);
        self.put_if(outfile.append, " APPEND");
        self.put_if(outfile.truncate, " TRUNCATE");
        self.put_if(outfile.and_stdout, " AND STDOUT");
        for (word, expr) in [
            (" COMPRESSION ", &outfile.compression),
            (" LEVEL ", &outfile.level),
        ] {
            if let Some(expr) = expr {
                self.put(word);
                self.expr(expr);
            }
        }
    }
}

fn set_operator(operator: SetOperator) -> &'static str {
    match operator {
        SetOperator::UnionDefault => "UNION",
        SetOperator::UnionAll => "UNION ALL",
        SetOperator::UnionDistinct => "UNION DISTINCT",
        SetOperator::ExceptDefault => "EXCEPT",
        SetOperator::ExceptAll => "EXCEPT ALL",
        SetOperator::ExceptDistinct => "EXCEPT DISTINCT",
        SetOperator::IntersectDefault => "INTERSECT",
        SetOperator::IntersectAll => "INTERSECT ALL",
        SetOperator::IntersectDistinct => "INTERSECT DISTINCT",
    }
}
