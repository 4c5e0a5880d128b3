//! Makes the views of `information_schema`, which tell in the SQL standard's words what `system` tells.
//!
//! Columns have names in small and in capital letters, as have the views and the database itself.

use std::sync::Arc;

use basalt_error::Result;
use basalt_parser::ast::{Query, Statement};
use basalt_types::DataType;
use basalt_types::parse::parse_structure;

use crate::catalog::unknown_table;
use crate::statement::create::cast_to;

/// A view of one table of `system`.
struct View {
    name: &'static str,
    /// Columns as `name Type = expression`; each group is repeated in capital letters.
    groups: &'static [&'static [&'static str]],
    /// What stands behind the columns.
    rest: &'static str,
}

const VIEWS: &[View] = &[
    View {
        name: "character_sets",
        groups: &[&["character_set_name String = \
             arrayJoin(['utf8', 'utf8mb4', 'ascii', 'binary'])"]],
        rest: "",
    },
    View {
        name: "collations",
        groups: &[
            &["collation_name String = 'binary'"],
            &[
                "character_set_name Nullable(String) = 'binary'",
                "id Nullable(UInt64) = 63",
                "is_default Nullable(String) = 'Yes'",
                "is_compiled Nullable(String) = 'Yes'",
                "sortlen Nullable(UInt64) = 1",
                "pad_attribute Nullable(String) = 'NO PAD'",
            ],
        ],
        rest: "",
    },
    View {
        name: "columns",
        groups: &[
            &[
                "table_catalog String = database",
                "table_schema String = database",
                "table_name String = table",
                "column_name String = name",
                "ordinal_position UInt64 = position",
                "column_default String = default_expression",
                "is_nullable String = type LIKE 'Nullable(%)'",
                "data_type String = type",
                "character_maximum_length Nullable(UInt64) = character_octet_length",
                "character_octet_length Nullable(UInt64) = character_octet_length",
                "numeric_precision Nullable(UInt64) = numeric_precision",
                "numeric_precision_radix Nullable(UInt64) = numeric_precision_radix",
                "numeric_scale Nullable(UInt64) = numeric_scale",
                "datetime_precision Nullable(UInt64) = datetime_precision",
                "character_set_catalog Nullable(String) = NULL",
                "character_set_schema Nullable(String) = NULL",
                "character_set_name Nullable(String) = NULL",
                "collation_catalog Nullable(String) = NULL",
                "collation_schema Nullable(String) = NULL",
                "collation_name Nullable(String) = NULL",
                "domain_catalog Nullable(String) = NULL",
                "domain_schema Nullable(String) = NULL",
                "domain_name Nullable(String) = NULL",
                "extra Nullable(String) = multiIf(default_kind = 'DEFAULT', 'DEFAULT_GENERATED', \
                 default_kind = 'MATERIALIZED', 'STORED GENERATED', \
                 default_kind = 'ALIAS', 'VIRTUAL GENERATED', '')",
                "column_comment String = comment",
                "column_type String = type",
            ],
            &[
                "column_key String = if(is_in_primary_key, 'PRI', '')",
                "privileges String = ''",
                "generation_expression String = \
                 if(default_kind IN ('MATERIALIZED', 'ALIAS'), default_expression, '')",
                "srs_id Nullable(UInt32) = NULL",
            ],
        ],
        rest: "FROM system.columns",
    },
    View {
        name: "engines",
        groups: &[&[
            "engine String = name",
            "support String = if(name = 'Memory', 'DEFAULT', 'YES')",
        ]],
        rest: "FROM system.table_engines",
    },
    View {
        name: "key_column_usage",
        groups: &[&[
            "constraint_catalog String = 'def'",
            "constraint_schema String = database",
            "constraint_name Nullable(String) = 'PRIMARY'",
            "table_catalog String = 'def'",
            "table_schema String = database",
            "table_name String = table",
            "column_name Nullable(String) = name",
            "ordinal_position UInt32 = 1",
            "position_in_unique_constraint Nullable(UInt32) = NULL",
            "referenced_table_schema Nullable(String) = NULL",
            "referenced_table_name Nullable(String) = NULL",
            "referenced_column_name Nullable(String) = NULL",
        ]],
        rest: "FROM system.columns WHERE is_in_primary_key",
    },
    View {
        name: "referential_constraints",
        groups: &[&[
            "constraint_catalog String = ''",
            "constraint_schema String = ''",
            "constraint_name Nullable(String) = NULL",
            "unique_constraint_catalog String = ''",
            "unique_constraint_schema String = ''",
            "unique_constraint_name Nullable(String) = NULL",
            "match_option String = ''",
            "update_rule String = ''",
            "delete_rule String = ''",
            "table_name String = ''",
            "referenced_table_name String = ''",
        ]],
        rest: "WHERE false",
    },
    View {
        name: "schemata",
        groups: &[
            &[
                "catalog_name String = name",
                "schema_name String = name",
                "schema_owner String = 'default'",
                "default_character_set_catalog Nullable(String) = NULL",
                "default_character_set_schema Nullable(String) = NULL",
                "default_character_set_name Nullable(String) = NULL",
                "sql_path Nullable(String) = NULL",
            ],
            &[
                "default_collation_name String = 'utf8mb4_0900_ai_ci'",
                "default_encryption String = 'NO'",
            ],
        ],
        rest: "FROM system.databases",
    },
    View {
        name: "statistics",
        groups: &[&[
            "table_catalog String = ''",
            "table_schema String = ''",
            "table_name String = ''",
            "non_unique Int32 = 0",
            "index_schema String = ''",
            "index_name Nullable(String) = NULL",
            "seq_in_index UInt32 = 0",
            "column_name Nullable(String) = NULL",
            "collation Nullable(String) = NULL",
            "cardinality Nullable(Int64) = NULL",
            "sub_part Nullable(Int64) = NULL",
            "packed Nullable(String) = NULL",
            "nullable String = ''",
            "index_type String = ''",
            "comment String = ''",
            "index_comment String = ''",
            "is_visible String = ''",
            "expression Nullable(String) = NULL",
        ]],
        rest: "WHERE false",
    },
    View {
        name: "tables",
        groups: &[
            &[
                "table_catalog String = database",
                "table_schema String = database",
                "table_name String = name",
                "table_type String = multiIf(is_temporary, 'LOCAL TEMPORARY', \
                 t.engine LIKE '%View', 'VIEW', t.engine LIKE 'System%', 'SYSTEM VIEW', \
                 has_own_data = 0, 'FOREIGN TABLE', 'BASE TABLE')",
                "table_rows Nullable(UInt64) = total_rows",
                "data_length Nullable(UInt64) = total_bytes",
                "index_length Nullable(UInt64) = 0",
                "table_collation Nullable(String) = 'utf8mb4_0900_ai_ci'",
                "table_comment Nullable(String) = comment",
            ],
            &[
                "engine Nullable(String) = \
                 if(t.engine LIKE '%View' OR t.engine LIKE 'System%', NULL, t.engine)",
                "version Nullable(UInt64) = NULL",
                "row_format Nullable(String) = NULL",
                "avg_row_length Nullable(UInt64) = NULL",
                "max_data_length Nullable(UInt64) = NULL",
                "data_free Nullable(UInt64) = NULL",
                "auto_increment Nullable(UInt64) = NULL",
                "create_time Nullable(DateTime) = NULL",
                "update_time Nullable(DateTime) = NULL",
                "check_time Nullable(DateTime) = NULL",
                "checksum Nullable(Int64) = NULL",
                "create_options Nullable(String) = NULL",
            ],
        ],
        rest: "FROM system.tables AS t",
    },
    View {
        name: "views",
        groups: &[&[
            "table_catalog String = database",
            "table_schema String = database",
            "table_name String = name",
            "view_definition String = as_select",
            "check_option String = 'NONE'",
            "is_updatable Enum8('NO' = 0, 'YES' = 1) = 'NO'",
            "is_insertable_into Enum8('NO' = 0, 'YES' = 1) = 'NO'",
            "is_trigger_updatable Enum8('NO' = 0, 'YES' = 1) = 'NO'",
            "is_trigger_deletable Enum8('NO' = 0, 'YES' = 1) = 'NO'",
            "is_trigger_insertable_into Enum8('NO' = 0, 'YES' = 1) = 'NO'",
        ]],
        rest: "FROM system.tables WHERE engine LIKE '%View'",
    },
];

/// Names of the views, in both cases.
pub(crate) fn names() -> Vec<String> {
    let capital = VIEWS.iter().map(|v| v.name.to_uppercase());
    capital
        .chain(VIEWS.iter().map(|v| v.name.to_owned()))
        .collect()
}

fn find(database: &str, name: &str) -> Result<&'static View> {
    let found = VIEWS.iter().find(|v| {
        v.name.eq_ignore_ascii_case(name) && (name == v.name || name == v.name.to_uppercase())
    });
    found.ok_or_else(|| {
        let names = names();
        let names = names.iter().map(String::as_str);
        let near = basalt_functions::registry::nearest(name, names);
        unknown_table(database, name, &near)
    })
}

impl View {
    /// Name, type and expression of each column.
    fn columns(&self) -> Vec<(String, &'static str, String)> {
        let mut columns = Vec::new();
        for group in self.groups {
            let parts = || group.iter().map(|c| column_parts(c));
            columns.extend(parts().map(|(n, t, e)| (n.to_owned(), t, e.to_owned())));
            columns.extend(parts().map(|(n, t, e)| (n.to_uppercase(), t, e.to_owned())));
        }
        columns
    }

    fn statement(&self, database: &str, name: &str) -> Result<Statement> {
        let columns = self.columns();
        let declared: Vec<String> = columns.iter().map(|(n, t, _)| format!("{n} {t}")).collect();
        // Expressions mean columns of the table, not what the view calls so.
        let selected = columns.iter().map(|(n, t, e)| match e.as_str() {
            "NULL" => format!("CAST(NULL, '{t}') AS {n}"),
            _ => format!("{e} AS {n}"),
        });
        let text = format!(
            "CREATE VIEW {database}.{name} ({}) AS SELECT {} {}",
            declared.join(", "),
            selected.collect::<Vec<_>>().join(", "),
            self.rest
        );
        Ok(basalt_parser::parse_statement(&text)?.statement)
    }
}

/// Splits `name Type = expression`.
fn column_parts(column: &'static str) -> (&'static str, &'static str, &'static str) {
    let (name, rest) = column.split_once(' ').unwrap_or((column, ""));
    // An Enum has `=` inside of its brackets.
    let end = rest
        .find(") = ")
        .map_or_else(|| rest.find(" = "), |i| Some(i + 1));
    let (data_type, expr) = rest.split_at(end.unwrap_or(rest.len()));
    (name, data_type, expr.trim_start_matches(" = "))
}

/// The statement that would make a view of the database.
pub(crate) fn create_statement(database: &str, name: &str) -> Result<Statement> {
    find(database, name)?.statement(database, name)
}

/// A view's query, with columns of the declared types.
pub(crate) fn query(database: &str, name: &str) -> Result<Arc<Query>> {
    let Statement::CreateView(mut view) = create_statement(database, name)? else {
        return Err(basalt_error::Error::bug("a view is made by CREATE VIEW"));
    };
    let declared = view.schema.take().map(|s| s.columns).unwrap_or_default();
    let select = view.query.take();
    let select = select.ok_or_else(|| basalt_error::Error::bug("a view has a query"))?;
    cast_to(&select, &declared).map(Arc::new)
}

/// Names and types of a view's columns.
pub(crate) fn columns(database: &str, name: &str) -> Result<Vec<(String, DataType)>> {
    let columns = find(database, name)?.columns();
    let structure: Vec<String> = columns.iter().map(|(n, t, _)| format!("{n} {t}")).collect();
    parse_structure(&structure.join(", "))
}
