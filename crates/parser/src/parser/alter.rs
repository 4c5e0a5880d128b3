//! Parses ALTER TABLE.

use basalt_error::Result;

use super::Parser;
use crate::ast::{
    Alter, AlterCommand, AlterStep, ColumnDef, ColumnPosition, ElementAction, ElementKind,
    MoveTarget, Partition, PartitionAction, Span, Statement, Statistics, TokenStatement,
};
use crate::lexer::TokenKind as K;

type CommandParser = fn(&mut Parser<'_>) -> Result<AlterCommand>;

/// First words of the commands, which are consumed before the function is called.
const COMMANDS: &[(&str, CommandParser)] = &[
    ("ADD COLUMN", |p| p.add_column()),
    ("ADD INDEX", |p| p.add_index()),
    ("ADD PROJECTION", |p| p.add_projection()),
    ("ADD CONSTRAINT", |p| p.add_constraint()),
    ("DROP COLUMN", |p| p.drop_column(false)),
    ("CLEAR COLUMN", |p| p.drop_column(true)),
    ("DROP INDEX", |p| {
        p.element_command(ElementAction::Drop, ElementKind::Index)
    }),
    ("CLEAR INDEX", |p| {
        p.element_command(ElementAction::Clear, ElementKind::Index)
    }),
    ("MATERIALIZE INDEX", |p| {
        p.element_command(ElementAction::Materialize, ElementKind::Index)
    }),
    ("DROP PROJECTION", |p| {
        p.element_command(ElementAction::Drop, ElementKind::Projection)
    }),
    ("CLEAR PROJECTION", |p| {
        p.element_command(ElementAction::Clear, ElementKind::Projection)
    }),
    ("MATERIALIZE PROJECTION", |p| {
        p.element_command(ElementAction::Materialize, ElementKind::Projection)
    }),
    ("DROP CONSTRAINT", |p| {
        p.element_command(ElementAction::Drop, ElementKind::Constraint)
    }),
    ("RENAME COLUMN", |p| p.rename_column()),
    ("COMMENT COLUMN", |p| p.comment_column()),
    ("MODIFY COLUMN", |p| p.modify_column()),
    ("ALTER COLUMN", |p| p.modify_column()),
    ("MATERIALIZE COLUMN", |p| p.materialize_column()),
    ("MODIFY ORDER BY", |p| {
        p.sorting_key().map(AlterCommand::ModifyOrderBy)
    }),
    ("MODIFY SAMPLE BY", |p| {
        p.expr().map(AlterCommand::ModifySampleBy)
    }),
    ("REMOVE SAMPLE BY", |_| Ok(AlterCommand::RemoveSampleBy)),
    ("MODIFY TTL", |p| {
        p.list(Parser::ttl_item).map(AlterCommand::ModifyTtl)
    }),
    ("REMOVE TTL", |_| Ok(AlterCommand::RemoveTtl)),
    ("MATERIALIZE TTL", |p| {
        p.in_partition().map(AlterCommand::MaterializeTtl)
    }),
    ("MODIFY SETTING", |p| {
        p.list(Parser::setting).map(AlterCommand::ModifySetting)
    }),
    ("RESET SETTING", |p| {
        p.list(|p| p.identifier("setting"))
            .map(AlterCommand::ResetSetting)
    }),
    ("MODIFY COMMENT", |p| {
        p.string("comment").map(AlterCommand::ModifyComment)
    }),
    ("MODIFY QUERY", |p| {
        p.query().map(|q| AlterCommand::ModifyQuery(Box::new(q)))
    }),
    ("MODIFY REFRESH", |p| {
        let refresh = Box::new(p.refresh()?);
        Ok(AlterCommand::ModifyRefresh(refresh))
    }),
    ("ADD STATISTICS", |p| p.statistics("ADD")),
    ("MODIFY STATISTICS", |p| p.statistics("MODIFY")),
    ("DROP STATISTICS", |p| p.statistics("DROP")),
    ("CLEAR STATISTICS", |p| p.statistics("CLEAR")),
    ("MATERIALIZE STATISTICS", |p| p.statistics("MATERIALIZE")),
    ("APPLY DELETED MASK", |p| p.rewrite("APPLY DELETED MASK")),
    ("APPLY PATCHES", |p| p.rewrite("APPLY PATCHES")),
    ("REWRITE PARTS", |p| p.rewrite("REWRITE PARTS")),
    ("FETCH", |p| p.fetch_partition()),
    ("UPDATE", |p| p.alter_update()),
    ("DELETE", |p| p.alter_delete()),
    ("DROP DETACHED", |p| {
        p.partition_command(PartitionAction::DropDetached)
    }),
    ("DROP", |p| p.partition_command(PartitionAction::Drop)),
    ("DETACH", |p| p.partition_command(PartitionAction::Detach)),
    ("ATTACH", |p| p.attach_partition(false)),
    ("REPLACE", |p| p.attach_partition(true)),
    ("FORGET", |p| p.partition_command(PartitionAction::Forget)),
    ("MOVE", |p| p.move_partition()),
    ("FREEZE", |p| p.freeze(false)),
    ("UNFREEZE", |p| p.freeze(true)),
];

impl Parser<'_> {
    pub(super) fn alter(&mut self) -> Result<Statement> {
        if let Some(statement) = self.access_statement()? {
            return Ok(statement);
        }
        if self.peek_keyword("ALTER NAMED COLLECTION") {
            return self.tokens("ALTER NAMED COLLECTION");
        }
        self.advance();
        let is_database = self.keyword("DATABASE");
        if !is_database {
            self.keyword("TEMPORARY");
            self.expect_keyword("TABLE")?;
        }
        let table = self.object_name("table")?;
        let cluster = self.on_cluster()?;
        let commands = self.list(Self::alter_command)?;
        let output = self.output_options()?;
        Ok(Statement::Alter(Box::new(Alter {
            is_database,
            table,
            cluster,
            commands,
            output,
        })))
    }

    /// A command, perhaps in parentheses.
    fn alter_command(&mut self) -> Result<AlterStep> {
        let in_parentheses = self.symbol(K::OpenRound);
        let found = COMMANDS.iter().find(|(words, _)| self.keyword(words));
        let span = self.behind_condition();
        let command = match found {
            Some((_, parse)) => parse(self)?,
            None if self.is_word(0, "MODIFY") && self.at_security(1) => {
                self.advance();
                AlterCommand::ModifySecurity(self.sql_security()?)
            }
            None => self.token_command()?,
        };
        if in_parentheses {
            self.expect_symbol(K::CloseRound)?;
        }
        Ok(AlterStep { command, span })
    }

    /// The next token, behind `IF EXISTS` and `IF NOT EXISTS`.
    fn behind_condition(&mut self) -> Span {
        let conditions = [("IF EXISTS", 2), ("IF NOT EXISTS", 3)];
        let found = conditions
            .into_iter()
            .find(|(words, _)| self.peek_keyword(words));
        self.token(found.map_or(0, |(_, words)| words)).span
    }

    fn token_command(&mut self) -> Result<AlterCommand> {
        let known = ["UNLOCK SNAPSHOT", "EXECUTE"];
        let Some(words) = known.iter().find(|words| self.peek_keyword(words)) else {
            return Err(self.failure());
        };
        let construct = format!("ALTER TABLE {words}");
        let text = self.text_until(&["SETTINGS", "FORMAT"])?;
        Ok(AlterCommand::Tokens(TokenStatement::new(construct, text)))
    }

    fn column_position(&mut self) -> Result<Option<ColumnPosition>> {
        if self.keyword("FIRST") {
            return Ok(Some(ColumnPosition::First));
        }
        if self.keyword("AFTER") {
            let start = self.start_span();
            let name = self.compound_identifier("column")?.join(".");
            return Ok(Some(ColumnPosition::After(name, self.span_from(start))));
        }
        Ok(None)
    }

    fn column_name(&mut self) -> Result<String> {
        Ok(self.compound_identifier("column")?.join("."))
    }

    fn add_column(&mut self) -> Result<AlterCommand> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let column = Box::new(self.column_def()?);
        self.expect_type_of(&column)?;
        let position = self.column_position()?;
        Ok(AlterCommand::AddColumn {
            if_not_exists,
            column,
            position,
        })
    }

    fn add_index(&mut self) -> Result<AlterCommand> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let index = Box::new(self.index_def()?);
        let position = self.column_position()?;
        Ok(AlterCommand::AddIndex {
            if_not_exists,
            index,
            position,
        })
    }

    fn add_projection(&mut self) -> Result<AlterCommand> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let projection = Box::new(self.projection()?);
        let position = self.column_position()?;
        Ok(AlterCommand::AddProjection {
            if_not_exists,
            projection,
            position,
        })
    }

    fn add_constraint(&mut self) -> Result<AlterCommand> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let constraint = Box::new(self.constraint()?);
        Ok(AlterCommand::AddConstraint {
            if_not_exists,
            constraint,
        })
    }

    fn drop_column(&mut self, clear: bool) -> Result<AlterCommand> {
        let if_exists = self.keyword("IF EXISTS");
        let name = self.column_name()?;
        if !clear {
            return Ok(AlterCommand::DropColumn { if_exists, name });
        }
        Ok(AlterCommand::ClearColumn {
            if_exists,
            name,
            partition: self.in_partition()?,
        })
    }

    fn element_command(
        &mut self,
        action: ElementAction,
        kind: ElementKind,
    ) -> Result<AlterCommand> {
        let if_exists = self.keyword("IF EXISTS");
        let name = self.identifier("name")?;
        let partition = self.in_partition()?;
        Ok(AlterCommand::Element {
            action,
            kind,
            if_exists,
            name,
            partition,
        })
    }

    fn statistics(&mut self, action: &str) -> Result<AlterCommand> {
        let is_lenient = self.keyword(match action {
            "ADD" => "IF NOT EXISTS",
            _ => "IF EXISTS",
        });
        // DROP knows a column of that name.
        let all = matches!(action, "CLEAR" | "MATERIALIZE") && self.keyword("ALL");
        let columns = match all {
            true => None,
            false => Some(self.list(Self::column_name)?),
        };
        let mut types = Vec::new();
        if matches!(action, "ADD" | "MODIFY") {
            self.expect_keyword("TYPE")?;
            types = self.list(Self::expr)?;
        }
        Ok(AlterCommand::Statistics(Box::new(Statistics {
            action: action.to_owned(),
            is_lenient,
            columns,
            types,
            partition: self.in_partition()?,
        })))
    }

    fn rewrite(&mut self, words: &str) -> Result<AlterCommand> {
        let partition = self.in_partition()?;
        Ok(AlterCommand::Rewrite(words.to_owned(), partition))
    }

    fn fetch_partition(&mut self) -> Result<AlterCommand> {
        let partition = self.required_partition()?;
        self.expect_keyword("FROM")?;
        Ok(AlterCommand::Fetch(partition, self.string("path")?))
    }

    fn rename_column(&mut self) -> Result<AlterCommand> {
        let if_exists = self.keyword("IF EXISTS");
        let from = self.column_name()?;
        self.expect_keyword("TO")?;
        Ok(AlterCommand::RenameColumn {
            if_exists,
            from,
            to: self.column_name()?,
        })
    }

    fn comment_column(&mut self) -> Result<AlterCommand> {
        let if_exists = self.keyword("IF EXISTS");
        let name = self.column_name()?;
        let comment = self.string("comment in single quotes")?;
        Ok(AlterCommand::CommentColumn {
            if_exists,
            name,
            comment,
        })
    }

    fn modify_column(&mut self) -> Result<AlterCommand> {
        let if_exists = self.keyword("IF EXISTS");
        if self.is_word(2, "SETTING") && self.is_word(1, "MODIFY") {
            let name = self.column_name()?;
            self.expect_keyword("MODIFY SETTING")?;
            let settings = self.list(Self::setting)?;
            return Ok(AlterCommand::ModifyColumnSetting(name, settings));
        }
        if self.is_word(2, "SETTING") && self.is_word(1, "RESET") {
            let name = self.column_name()?;
            self.expect_keyword("RESET SETTING")?;
            let names = self.list(|p| p.identifier("setting"))?;
            return Ok(AlterCommand::ResetColumnSetting(name, names));
        }
        let column = self.column_def()?;
        let is_bare = column == ColumnDef::named(column.name.clone());
        let says_nothing = is_bare || (column.data_type.is_none() && column.nullable.is_some());
        if says_nothing && !self.peek_keyword("REMOVE") {
            return self.fail("data type, or what becomes of the column");
        }
        let remove = if self.keyword("REMOVE") {
            Some(self.removed_property()?)
        } else {
            None
        };
        let position = self.column_position()?;
        let column = Box::new(column);
        Ok(AlterCommand::ModifyColumn {
            if_exists,
            column,
            remove,
            position,
        })
    }

    fn removed_property(&mut self) -> Result<String> {
        let words = [
            "DEFAULT",
            "MATERIALIZED",
            "ALIAS",
            "COMMENT",
            "CODEC",
            "TTL",
            "SETTINGS",
        ];
        match self.keyword_of(&words) {
            Some(choice) => Ok(words[choice].to_owned()),
            None => Err(self.failure()),
        }
    }

    fn materialize_column(&mut self) -> Result<AlterCommand> {
        let name = self.column_name()?;
        Ok(AlterCommand::MaterializeColumn {
            name,
            partition: self.in_partition()?,
        })
    }

    fn alter_update(&mut self) -> Result<AlterCommand> {
        let assignments = self.list(Self::assignment)?;
        let partition = self.in_partition()?;
        self.expect_keyword("WHERE")?;
        Ok(AlterCommand::Update {
            assignments,
            partition,
            where_: self.expr()?,
        })
    }

    fn alter_delete(&mut self) -> Result<AlterCommand> {
        let partition = self.in_partition()?;
        self.expect_keyword("WHERE")?;
        Ok(AlterCommand::Delete {
            partition,
            where_: self.expr()?,
        })
    }

    fn required_partition(&mut self) -> Result<Partition> {
        match self.partition()? {
            Some(partition) => Ok(partition),
            None => Err(self.failure()),
        }
    }

    fn partition_command(&mut self, action: PartitionAction) -> Result<AlterCommand> {
        Ok(AlterCommand::Partition {
            action,
            partition: self.required_partition()?,
        })
    }

    fn attach_partition(&mut self, replace: bool) -> Result<AlterCommand> {
        let partition = self.required_partition()?;
        if self.keyword("FROM") {
            let from = self.object_name("table")?;
            return Ok(AlterCommand::PartitionFrom {
                replace,
                partition,
                from,
            });
        }
        if replace {
            return Err(self.failure());
        }
        Ok(AlterCommand::Partition {
            action: PartitionAction::Attach,
            partition,
        })
    }

    fn move_partition(&mut self) -> Result<AlterCommand> {
        let partition = self.required_partition()?;
        let is_part = matches!(partition, Partition::Part(_));
        let last = if is_part { "TO SHARD" } else { "TO TABLE" };
        let to = match self.keyword_of(&["TO DISK", "TO VOLUME", last]) {
            Some(0) => MoveTarget::Disk(self.string("disk")?),
            Some(1) => MoveTarget::Volume(self.string("volume")?),
            Some(_) if is_part => MoveTarget::Shard(self.string("path")?),
            Some(_) => MoveTarget::Table(self.object_name("table")?),
            None => return Err(self.failure()),
        };
        Ok(AlterCommand::MovePartition { partition, to })
    }

    fn freeze(&mut self, unfreeze: bool) -> Result<AlterCommand> {
        let partition = self.partition()?;
        let name = if self.keyword("WITH NAME") {
            Some(self.string("name of the backup")?)
        } else {
            None
        };
        Ok(AlterCommand::Freeze {
            unfreeze,
            partition,
            name,
        })
    }
}
