//! Parses ENGINE and its clauses, and TTL.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Engine, OrderItem, Storage, TtlAction, TtlItem};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// `[ENGINE = ..] [PARTITION BY ..] [ORDER BY ..] ..` in any order.
    pub(super) fn storage(&mut self, storage: &mut Storage) -> Result<()> {
        loop {
            if storage.engine.is_none() && self.keyword("ENGINE") {
                self.symbol(K::Equals);
                storage.engine = Some(self.engine()?);
            } else if storage.partition_by.is_none() && self.keyword("PARTITION BY") {
                storage.partition_by = Some(self.expr()?);
            } else if storage.primary_key.is_none() && self.keyword("PRIMARY KEY") {
                storage.primary_key = Some(self.expr()?);
            } else if storage.order_by.is_none() && self.keyword("ORDER BY") {
                storage.order_by = Some(self.sorting_key()?);
            } else if storage.unique_key.is_none() && self.keyword("UNIQUE KEY") {
                storage.unique_key = Some(self.expr()?);
            } else if storage.sample_by.is_none() && self.keyword("SAMPLE BY") {
                storage.sample_by = Some(self.expr()?);
            } else if storage.ttl.is_empty() && self.keyword("TTL") {
                storage.ttl = self.list(Self::ttl_item)?;
            } else if storage.settings.is_empty()
                && storage.engine.is_some()
                && self.keyword("SETTINGS")
            {
                storage.settings = self.list(Self::setting)?;
            } else {
                return Ok(());
            }
        }
    }

    fn engine(&mut self) -> Result<Engine> {
        let name = self.identifier("engine name")?;
        let span = self.last_span();
        let mut args = Vec::new();
        if self.kind() == K::OpenRound {
            self.advance();
            args = self.items_until(K::CloseRound)?;
        }
        Ok(Engine {
            name,
            args: (!args.is_empty()).then_some(args),
            span,
        })
    }

    /// `a`, `(a, b DESC)`, `tuple()`
    pub(super) fn sorting_key(&mut self) -> Result<Vec<OrderItem>> {
        if self.is_word(0, "tuple") && self.token(1).kind == K::OpenRound {
            let mark = self.mark();
            self.advance();
            let items = self.parenthesised(Self::key_item)?;
            if items.iter().any(|item| item.descending) {
                return Ok(items);
            }
            self.back(mark);
        }
        if self.kind() == K::OpenRound {
            let mark = self.mark();
            self.advance();
            if self.kind() != K::CloseRound && !self.at_query() {
                let mut items = self.list(Self::key_item)?;
                if let [one] = items.as_mut_slice() {
                    one.expr.span.parenthesised = true;
                }
                let closed = self.symbol(K::CloseRound);
                let ends =
                    closed && !matches!(self.kind(), K::Dot | K::OpenSquare | K::Plus | K::Minus);
                if ends {
                    return Ok(items);
                }
                if !closed {
                    return Err(self.failure());
                }
            }
            self.back(mark);
        }
        Ok(vec![self.key_item()?])
    }

    /// A key with its direction; AS after it begins the query of CREATE TABLE.
    fn key_item(&mut self) -> Result<OrderItem> {
        let expr = self.expr()?;
        let direction = self.keyword_of(&["DESC", "ASC"]);
        let descending = direction == Some(0);
        Ok(OrderItem {
            expr,
            descending,
            nulls_first: None,
            collate: None,
            with_fill: None,
        })
    }

    /// `expr [DELETE | TO .. | RECOMPRESS .. | GROUP BY ..] [WHERE ..]`
    pub(super) fn ttl_item(&mut self) -> Result<TtlItem> {
        let expr = self.expr()?;
        let action = self.ttl_action()?;
        let where_ = if self.keyword("WHERE") {
            Some(self.expr()?)
        } else {
            None
        };
        Ok(TtlItem {
            expr,
            action,
            where_,
        })
    }

    fn ttl_action(&mut self) -> Result<TtlAction> {
        if self.keyword("TO DISK") {
            let if_exists = self.keyword("IF EXISTS");
            return Ok(TtlAction::ToDisk {
                name: self.text_string("disk")?,
                if_exists,
            });
        }
        if self.keyword("TO VOLUME") {
            let if_exists = self.keyword("IF EXISTS");
            return Ok(TtlAction::ToVolume {
                name: self.text_string("volume")?,
                if_exists,
            });
        }
        if self.keyword("RECOMPRESS") {
            self.expect_keyword("CODEC")?;
            return Ok(TtlAction::Recompress(self.parenthesised(Self::expr)?));
        }
        if self.keyword("GROUP BY") {
            let keys = self.list(Self::expr)?;
            let set = if self.keyword("SET") {
                self.list(Self::assignment)?
            } else {
                Vec::new()
            };
            return Ok(TtlAction::GroupBy { keys, set });
        }
        self.keyword("DELETE");
        Ok(TtlAction::Delete)
    }
}
