//! Writes statements other than CREATE, ALTER, INSERT and SELECT.

use super::Writer;
use super::text::{identifier, quoted};
use crate::ast::{
    Check, DropStatement, Exists, Explain, ExplainKind, Expr, Kill, ObjectKind, ObjectName,
    Optimize, Partition, Rename, Setting, Show, ShowFilter, ShowKind, Statement, SystemCommand,
    TokenStatement, Truncate,
};

impl Writer {
    pub(super) fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => self.query(query),
            Statement::Insert(insert) => self.insert(insert),
            Statement::CreateTable(create) => self.create_table(create),
            Statement::CreateView(create) => self.create_view(create),
            Statement::CreateDatabase(create) => self.create_database(create),
            Statement::CreateFunction(create) => self.create_function(create),
            Statement::Alter(alter) => self.alter(alter),
            Statement::Drop(drop) => self.drop_statement(drop),
            Statement::Truncate(truncate) => self.truncate(truncate),
            Statement::Rename(rename) => self.rename(rename),
            Statement::Explain(explain) => self.explain(explain),
            Statement::Show(show) => self.show(show),
            Statement::Parallel(statements) => {
                for (i, each) in statements.iter().enumerate() {
                    if i > 0 {
                        self.line();
                        self.put("PARALLEL WITH");
                        self.line();
                    }
                    self.statement(each);
                }
            }
            _ => self.small_statement(statement),
        }
    }

    fn small_statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Describe(describe) => {
                self.put("DESCRIBE TABLE");
                match describe.table.source {
                    crate::ast::TableSource::Subquery(_) => self.line(),
                    _ => self.put(" "),
                }
                self.table_expr(&describe.table);
                self.output(&describe.output);
            }
            Statement::Exists(exists) => self.exists(exists),
            Statement::Set(settings) => {
                self.put("SET ");
                self.settings(settings);
            }
            Statement::Use(used) => {
                self.put("USE ");
                self.name_part(&used.database, used.is_parameter);
            }
            Statement::Optimize(optimize) => self.optimize(optimize),
            Statement::Check(check) => self.check(check),
            Statement::System(system) => self.system(system),
            Statement::Kill(kill) => self.kill(kill),
            Statement::Tokens(tokens) => self.tokens(tokens),
            Statement::CreateIndex(index) => self.create_index(index),
            Statement::ExecuteAs { user, statement } => {
                self.put(&format!("EXECUTE AS {}", identifier(user)));
                if let Some(statement) = statement {
                    self.line();
                    self.statement(statement);
                }
            }
            Statement::Delete {
                table,
                cluster,
                partition,
                where_,
                settings,
            } => {
                self.put("DELETE FROM ");
                self.object_name(table);
                self.cluster(cluster.as_deref());
                self.mutation_tail(partition.as_deref(), where_, settings);
            }
            Statement::Update {
                table,
                cluster,
                assignments,
                partition,
                where_,
                settings,
            } => {
                self.put("UPDATE ");
                self.object_name(table);
                self.cluster(cluster.as_deref());
                self.put(" SET ");
                self.assignments(assignments);
                self.mutation_tail(partition.as_deref(), where_, settings);
            }
            _ => {}
        }
    }

    fn tokens(&mut self, tokens: &TokenStatement) {
        if self.is_one_line() {
            // Line breaks are between clauses and around lists: those of strings are escaped.
            let text = tokens
                .text
                .replace("\n(\n    ", " (")
                .replace(",\n    ", ", ");
            self.put(&text.replace("\n)", ")").replace('\n', " "));
        } else {
            self.put(&tokens.text);
        }
        self.output(&tokens.output);
    }

    fn mutation_tail(
        &mut self,
        partition: Option<&Partition>,
        where_: &Expr,
        settings: &[Setting],
    ) {
        self.in_partition(partition);
        self.put(" WHERE ");
        self.expr(where_);
        self.settings_line(settings);
    }

    fn drop_statement(&mut self, drop: &DropStatement) {
        self.put(if drop.detach { "DETACH " } else { "DROP " });
        self.put_if(drop.temporary, "TEMPORARY ");
        self.put(kind_word(drop.kind));
        self.put_if(drop.if_exists, "IF EXISTS ");
        self.put_if(drop.if_empty, "IF EMPTY ");
        self.commas(&drop.names, |w, name| w.object_name(name));
        if let Some(table) = &drop.on_table {
            self.put(" ON ");
            self.object_name(table);
        }
        self.cluster(drop.cluster.as_deref());
        self.put_if(drop.permanently, " PERMANENTLY");
        self.put_if(drop.sync, " SYNC");
        self.output(&drop.output);
    }

    fn truncate(&mut self, truncate: &Truncate) {
        self.put("TRUNCATE ");
        self.put_if(truncate.temporary, "TEMPORARY ");
        self.put(match truncate.is_filtered {
            true => "TABLES FROM ",
            false => kind_word(truncate.kind),
        });
        self.put_if(truncate.if_exists, "IF EXISTS ");
        self.object_name(&truncate.name);
        self.show_filter(truncate.filter.as_ref());
        self.cluster(truncate.cluster.as_deref());
        self.put_if(truncate.sync, " SYNC");
        self.output(&truncate.output);
    }

    fn rename(&mut self, rename: &Rename) {
        self.put(match (rename.exchange, rename.kind) {
            (true, ObjectKind::Dictionary) => "EXCHANGE DICTIONARIES ",
            (true, _) => "EXCHANGE TABLES ",
            (false, ObjectKind::Dictionary) => "RENAME DICTIONARY ",
            (false, ObjectKind::Database) => "RENAME DATABASE ",
            (false, _) => "RENAME TABLE ",
        });
        self.commas(&rename.pairs, |w, pair| {
            w.put_if(pair.if_exists, "IF EXISTS ");
            w.object_name(&pair.from);
            w.put(if rename.exchange { " AND " } else { " TO " });
            w.object_name(&pair.to);
        });
        self.cluster(rename.cluster.as_deref());
        self.output(&rename.output);
    }

    fn explain(&mut self, explain: &Explain) {
        self.put("EXPLAIN");
        if explain.kind != ExplainKind::Plan {
            self.put(" ");
            self.put(explain.kind.words());
        }
        if !explain.settings.is_empty() {
            self.put(" ");
            self.settings(&explain.settings);
        }
        if let Some(statement) = &explain.statement {
            self.line();
            self.statement(statement);
        }
        self.output(&explain.output);
    }

    fn show(&mut self, show: &Show) {
        if let ShowKind::Other(tokens) = &show.kind {
            self.put("SHOW ");
            self.put(&tokens.text);
            self.output(&tokens.output);
            return;
        }
        self.put("SHOW ");
        self.show_kind(&show.kind);
        self.show_filter(show.filter.as_ref());
        if let Some(limit) = &show.limit {
            self.put(" LIMIT ");
            self.expr(limit);
        }
        self.output(&show.output);
    }

    fn show_kind(&mut self, kind: &ShowKind) {
        match kind {
            ShowKind::Databases => self.put("DATABASES"),
            ShowKind::Functions => self.put("FUNCTIONS"),
            ShowKind::ProcessList => self.put("PROCESSLIST"),
            ShowKind::Engines => self.put("ENGINES"),
            ShowKind::Merges => self.put("MERGES"),
            ShowKind::Clusters => self.put("CLUSTERS"),
            ShowKind::Cluster(name) => self.put(&format!("CLUSTER {}", identifier(name))),
            ShowKind::Setting(name) => self.put(&format!("SETTING {}", identifier(name))),
            ShowKind::Settings { changed } => {
                self.put_if(*changed, "CHANGED ");
                self.put("SETTINGS");
            }
            ShowKind::Tables {
                full,
                temporary,
                database,
                ..
            } => {
                self.put_if(*full, "FULL ");
                self.put_if(*temporary, "TEMPORARY ");
                self.put("TABLES");
                self.database_clause(database.as_deref());
            }
            ShowKind::Dictionaries { database } => {
                self.put("DICTIONARIES");
                self.database_clause(database.as_deref());
            }
            ShowKind::Columns {
                extended,
                full,
                table,
            } => {
                self.put_if(*extended, "EXTENDED ");
                self.put_if(*full, "FULL ");
                self.put("COLUMNS");
                self.table_clause(table);
            }
            ShowKind::Indexes { extended, table } => {
                self.put_if(*extended, "EXTENDED ");
                self.put("INDEXES");
                self.table_clause(table);
            }
            ShowKind::Create {
                object,
                temporary,
                name,
            } => {
                self.put("CREATE ");
                self.put_if(*temporary, "TEMPORARY ");
                self.put(kind_word(*object));
                self.object_name(name);
            }
            ShowKind::Other(_) => {}
        }
    }

    fn database_clause(&mut self, database: Option<&str>) {
        if let Some(database) = database {
            self.put(" FROM ");
            self.put_name(database);
        }
    }

    fn table_clause(&mut self, table: &ObjectName) {
        self.put(" FROM ");
        let bare = ObjectName {
            database: None,
            ..table.clone()
        };
        self.object_name(&bare);
        self.database_clause(table.database.as_deref());
    }

    fn show_filter(&mut self, filter: Option<&ShowFilter>) {
        match filter {
            Some(ShowFilter::Where(expr)) => {
                self.put(" WHERE ");
                self.expr(expr);
            }
            Some(ShowFilter::Like {
                not,
                case_insensitive,
                pattern,
            }) => {
                self.put_if(*not, " NOT");
                self.put(if *case_insensitive {
                    " ILIKE "
                } else {
                    " LIKE "
                });
                self.put(&quoted(pattern));
            }
            None => {}
        }
    }

    fn exists(&mut self, exists: &Exists) {
        self.put("EXISTS ");
        self.put_if(exists.temporary, "TEMPORARY ");
        self.put(kind_word(exists.kind));
        self.object_name(&exists.name);
        self.output(&exists.output);
    }

    fn optimize(&mut self, optimize: &Optimize) {
        self.put("OPTIMIZE TABLE ");
        self.object_name(&optimize.table);
        self.cluster(optimize.cluster.as_deref());
        if let Some(partition) = &optimize.partition {
            self.put(" ");
            self.partition(partition);
        }
        self.put_if(optimize.final_, " FINAL");
        self.put_if(optimize.deduplicate, " DEDUPLICATE");
        if !optimize.deduplicate_by.is_empty() {
            self.put(" BY ");
            self.commas(&optimize.deduplicate_by, |w, e| w.expr(e));
        }
        self.put_if(optimize.cleanup, " CLEANUP");
        self.output(&optimize.output);
    }

    fn check(&mut self, check: &Check) {
        self.put("CHECK ");
        match &check.table {
            Some(table) => {
                self.put("TABLE ");
                self.object_name(table);
            }
            None => self.put("ALL TABLES"),
        }
        if let Some(partition) = &check.partition {
            self.put(" ");
            self.partition(partition);
        }
        self.output(&check.output);
    }

    fn system(&mut self, system: &SystemCommand) {
        self.put("SYSTEM");
        if !system.command.is_empty() {
            self.put(" ");
            self.put(&system.command);
        }
        self.put_if(!system.rest.text.is_empty(), " ");
        self.put(&system.rest.text);
        self.output(&system.rest.output);
    }

    fn kill(&mut self, kill: &Kill) {
        self.put(if kill.mutation {
            "KILL MUTATION"
        } else {
            "KILL QUERY"
        });
        self.cluster(kill.cluster.as_deref());
        self.put(" WHERE ");
        self.expr(&kill.where_);
        self.put(match (kill.sync, kill.test) {
            (true, _) => " SYNC",
            (_, true) => " TEST",
            _ => " ASYNC",
        });
        self.output(&kill.output);
    }
}

fn kind_word(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Table => "TABLE ",
        ObjectKind::View => "VIEW ",
        ObjectKind::Dictionary => "DICTIONARY ",
        ObjectKind::Database => "DATABASE ",
        ObjectKind::Function => "FUNCTION ",
        ObjectKind::Index => "INDEX ",
        ObjectKind::AllTables => "ALL TABLES FROM ",
    }
}
