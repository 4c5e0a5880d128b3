//! Writes CREATE TABLE, VIEW, DATABASE and FUNCTION.

use super::Writer;
use super::text::{backticked, quoted};
use crate::ast::{
    ColumnDef, ConstraintKind, CreateDatabase, CreateFunction, CreateIndex, CreateTable,
    CreateView, DefaultKind, Expr, IndexDef, OrderItem, ProjectionBody, ProjectionDef, Query,
    Storage, TableOverride, TableSchema, TtlAction, TtlItem, ViewKind,
};

impl Writer {
    pub(super) fn create_table(&mut self, t: &CreateTable) {
        self.put(match (t.attach, t.replace_only, t.or_replace) {
            (true, ..) => "ATTACH ",
            (_, true, _) => "REPLACE ",
            (_, _, true) => "CREATE OR REPLACE ",
            _ => "CREATE ",
        });
        self.put_if(t.temporary, "TEMPORARY ");
        self.put("TABLE ");
        self.put_if(t.if_not_exists, "IF NOT EXISTS ");
        self.object_name(&t.name);
        self.uuid(t.uuid.as_deref());
        self.cluster(t.cluster.as_deref());
        if let Some(path) = &t.attach_from {
            self.put(" FROM ");
            self.put(&quoted(path.as_bytes()));
        }
        if let Some(table) = t.as_table.as_ref() {
            self.put_if(t.empty, " EMPTY");
            self.put(if t.clone_as { " CLONE AS " } else { " AS " });
            self.object_name(table);
        }
        self.schema(t.schema.as_ref());
        self.storage(&t.storage);
        if let Some(function) = &t.as_function {
            self.put_if(t.empty, " EMPTY");
            self.put(" AS ");
            self.table_function(function);
        }
        self.comment(t.comment.as_deref());
        self.as_query(t.empty, t.query.as_deref());
        self.output(&t.output);
    }

    fn uuid(&mut self, uuid: Option<&str>) {
        if let Some(uuid) = uuid {
            self.put(" UUID ");
            self.put(&quoted(uuid.as_bytes()));
        }
    }

    pub(super) fn cluster(&mut self, cluster: Option<&str>) {
        if let Some(cluster) = cluster {
            self.put(" ON CLUSTER ");
            self.put_name(cluster);
        }
    }

    fn comment(&mut self, comment: Option<&[u8]>) {
        if let Some(comment) = comment {
            self.line();
            self.put("COMMENT ");
            self.put(&quoted(comment));
        }
    }

    fn as_query(&mut self, empty: bool, query: Option<&Query>) {
        if let Some(query) = query {
            self.put_if(empty, " EMPTY");
            self.line();
            self.put("AS ");
            self.query_body(&query.body);
        }
    }

    fn schema(&mut self, schema: Option<&TableSchema>) {
        let Some(schema) = schema else { return };
        self.line();
        self.put("(");
        let mut separator = "";
        self.indented(|w| {
            for column in &schema.columns {
                w.schema_line(&mut separator);
                w.column(column);
            }
            for index in &schema.indexes {
                w.schema_line(&mut separator);
                w.put("INDEX ");
                w.index(index);
            }
            for constraint in &schema.constraints {
                w.schema_line(&mut separator);
                w.put("CONSTRAINT ");
                w.constraint(constraint);
            }
            for projection in &schema.projections {
                w.schema_line(&mut separator);
                w.put("PROJECTION ");
                w.projection(projection);
            }
        });
        self.soft_line();
        self.put(")");
    }

    fn schema_line(&mut self, separator: &mut &'static str) {
        self.put(separator);
        if separator.is_empty() {
            self.soft_line()
        } else {
            self.line()
        }
        *separator = ",";
    }

    pub(super) fn column(&mut self, c: &ColumnDef) {
        self.put(&backticked(&c.name));
        if let Some(data_type) = &c.data_type {
            self.put(" ");
            self.data_type(data_type);
        }
        match c.nullable {
            Some(true) => self.put(" NULL"),
            Some(false) => self.put(" NOT NULL"),
            None => {}
        }
        if let Some(default) = &c.default {
            self.put(match default.kind {
                DefaultKind::Default => " DEFAULT",
                DefaultKind::Materialized => " MATERIALIZED",
                DefaultKind::Alias => " ALIAS",
                DefaultKind::Ephemeral => " EPHEMERAL",
            });
            if let Some(expr) = &default.expr {
                self.put(" ");
                self.expr(expr);
            }
        }
        self.put_if(c.auto_increment, " AUTO_INCREMENT");
        if let Some(comment) = &c.comment {
            self.put(" COMMENT ");
            self.put(&quoted(comment));
        }
        for (word, list) in [(" CODEC", &c.codec), (" STATISTICS", &c.statistics)] {
            if let Some(list) = list {
                self.put(word);
                self.parentheses(list, |w, e| w.expr(e));
            }
        }
        if let Some(ttl) = &c.ttl {
            self.put(" TTL ");
            self.expr(ttl);
        }
        if let Some(collate) = &c.collate {
            self.put(" COLLATE ");
            self.put_name(collate);
        }
        if !c.settings.is_empty() {
            self.put(" SETTINGS (");
            self.settings(&c.settings);
            self.put(")");
        }
    }

    pub(super) fn index(&mut self, index: &IndexDef) {
        self.put_name(&index.name);
        self.put(" ");
        self.expr(&index.expr);
        self.put(" TYPE ");
        self.expr(&index.index_type);
        self.put(&format!(" GRANULARITY {}", index.granularity));
    }

    pub(super) fn constraint(&mut self, constraint: &crate::ast::Constraint) {
        self.put_name(&constraint.name);
        self.put(match constraint.kind {
            ConstraintKind::Check => " CHECK ",
            ConstraintKind::Assume => " ASSUME ",
        });
        self.expr(&constraint.expr);
    }

    pub(super) fn projection(&mut self, projection: &ProjectionDef) {
        self.put_name(&projection.name);
        match &projection.body {
            ProjectionBody::Query(query) => {
                self.line();
                self.block(|w| w.projection_query(query));
            }
            ProjectionBody::Index { expr, index_type } => {
                self.put(" INDEX ");
                self.expr(expr);
                self.put(" TYPE ");
                self.expr(index_type);
            }
        }
        if !projection.settings.is_empty() {
            self.put(" WITH SETTINGS (");
            self.settings(&projection.settings);
            self.put(")");
        }
    }

    pub(super) fn storage(&mut self, s: &Storage) {
        if let Some(engine) = &s.engine {
            self.line();
            self.put("ENGINE = ");
            self.put_name(&engine.name);
            if let Some(args) = engine.args.as_ref().filter(|args| !args.is_empty()) {
                self.parentheses(args, |w, e| w.expr(e));
            }
        }
        self.key("PARTITION BY ", s.partition_by.as_ref());
        self.key("PRIMARY KEY ", s.primary_key.as_ref());
        if let Some(order_by) = &s.order_by {
            self.line();
            self.put("ORDER BY ");
            self.sorting_key(order_by);
        }
        self.key("UNIQUE KEY ", s.unique_key.as_ref());
        self.key("SAMPLE BY ", s.sample_by.as_ref());
        if !s.ttl.is_empty() {
            self.line();
            self.put("TTL ");
            self.commas(&s.ttl, |w, item| w.ttl_item(item));
        }
        self.settings_line(&s.settings);
    }

    fn key(&mut self, words: &str, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.line();
            self.put(words);
            self.expr(expr);
        }
    }

    /// One key as it is, several in parentheses.
    pub(super) fn sorting_key(&mut self, items: &[OrderItem]) {
        let descending = items.iter().any(|item| item.descending);
        match items {
            [one] if !descending => self.expr(&one.expr),
            items => {
                self.put_if(descending && items.len() > 1, "tuple");
                if let ([item], true) = (items, descending) {
                    self.expr(&item.expr);
                    self.put(" DESC");
                    return;
                }
                self.parentheses(items, |w, item| {
                    w.expr(&item.expr);
                    w.put_if(item.descending, " DESC");
                });
            }
        }
    }

    pub(super) fn ttl_item(&mut self, item: &TtlItem) {
        self.expr(&item.expr);
        match &item.action {
            TtlAction::Delete => {}
            TtlAction::ToDisk { name, if_exists } => self.ttl_target("DISK", name, *if_exists),
            TtlAction::ToVolume { name, if_exists } => self.ttl_target("VOLUME", name, *if_exists),
            TtlAction::Recompress(codec) => {
                self.put(" RECOMPRESS CODEC");
                self.parentheses(codec, |w, e| w.expr(e));
            }
            TtlAction::GroupBy { keys, set } => {
                self.put(" GROUP BY ");
                self.commas(keys, |w, e| w.expr(e));
                if !set.is_empty() {
                    self.put(" SET ");
                    self.assignments(set);
                }
            }
        }
        if let Some(where_) = &item.where_ {
            self.put(" WHERE ");
            self.expr(where_);
        }
    }

    fn ttl_target(&mut self, kind: &str, name: &str, if_exists: bool) {
        self.put(&format!(" TO {kind} "));
        self.put_if(if_exists, "IF EXISTS ");
        self.put(&quoted(name.as_bytes()));
    }

    pub(super) fn assignments(&mut self, assignments: &[(String, Expr)]) {
        self.commas(assignments, |w, (name, expr)| {
            w.put_name(name);
            w.put(" = ");
            w.expr(expr);
        });
    }

    pub(super) fn create_view(&mut self, v: &CreateView) {
        self.put(match (v.attach, v.or_replace) {
            (true, _) => "ATTACH ",
            (_, true) => "CREATE OR REPLACE ",
            _ => "CREATE ",
        });
        self.put_if(v.temporary, "TEMPORARY ");
        self.put(match v.kind {
            ViewKind::Plain => "VIEW ",
            ViewKind::Materialized => "MATERIALIZED VIEW ",
        });
        self.put_if(v.if_not_exists, "IF NOT EXISTS ");
        self.object_name(&v.name);
        self.uuid(v.uuid.as_deref());
        self.cluster(v.cluster.as_deref());
        if let Some(refresh) = &v.refresh {
            self.line();
            self.put(&refresh.text);
        }
        if let Some(table) = &v.to_table {
            self.put(" TO ");
            self.object_name(table);
        }
        if let Some(uuid) = &v.inner_uuid {
            self.put(&format!(" TO INNER UUID {}", quoted(uuid.as_bytes())));
        }
        match v.schema.as_ref().and_then(TableSchema::names) {
            Some(names) => {
                self.line();
                self.put("(");
                self.commas(&names, |w, name| w.put_name(name));
                self.soft_line();
                self.put(")");
            }
            None => self.schema(v.schema.as_ref()),
        }
        self.storage(&v.storage);
        self.put_if(v.populate, " POPULATE");
        if let Some(security) = &v.security {
            self.line();
            self.put(security);
        }
        self.comment(v.comment.as_deref());
        self.as_query(v.empty, v.query.as_deref());
        self.output(&v.output);
    }

    pub(super) fn create_database(&mut self, d: &CreateDatabase) {
        self.put(if d.attach {
            "ATTACH DATABASE "
        } else {
            "CREATE DATABASE "
        });
        self.put_if(d.if_not_exists, "IF NOT EXISTS ");
        self.object_name(&d.name);
        self.uuid(d.uuid.as_deref());
        self.cluster(d.cluster.as_deref());
        self.storage(&d.storage);
        for (i, table) in d.table_overrides.iter().enumerate() {
            self.put_if(i > 0, ",");
            self.table_override(table);
        }
        self.comment(d.comment.as_deref());
        self.output(&d.output);
    }

    fn table_override(&mut self, table: &TableOverride) {
        self.line();
        self.put("TABLE OVERRIDE ");
        self.put_name(&table.name);
        self.line();
        self.put("(");
        let is_empty = table.schema.is_none() && table.storage == Storage::default();
        self.indented(|w| {
            if table.schema.is_some() {
                w.soft_line();
                w.put("COLUMNS");
                w.schema(table.schema.as_ref());
                w.storage(&table.storage);
            } else {
                w.without_first_space(|w| w.storage(&table.storage));
            }
        });
        if is_empty {
            self.soft_line();
        }
        self.soft_line();
        self.put(")");
    }

    pub(super) fn create_function(&mut self, f: &CreateFunction) {
        self.put(if f.or_replace {
            "CREATE OR REPLACE FUNCTION "
        } else {
            "CREATE FUNCTION "
        });
        self.put_if(f.if_not_exists, "IF NOT EXISTS ");
        self.put_name(&f.name);
        self.cluster(f.cluster.as_deref());
        self.put(" AS ");
        self.lambda(&f.lambda);
    }

    pub(super) fn create_index(&mut self, i: &CreateIndex) {
        self.put("CREATE ");
        self.put_if(i.unique, "UNIQUE ");
        self.put("INDEX ");
        self.put_if(i.if_not_exists, "IF NOT EXISTS ");
        self.put_name(&i.name);
        self.put(" ON ");
        self.object_name(&i.table);
        self.cluster(i.cluster.as_deref());
        self.put(" ");
        self.expr(&i.expr);
        if let Some(index_type) = &i.index_type {
            self.put(" TYPE ");
            self.expr(index_type);
        }
        self.put(&format!(" GRANULARITY {}", i.granularity));
        self.output(&i.output);
    }
}
