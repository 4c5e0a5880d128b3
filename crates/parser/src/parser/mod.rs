//! Turns tokens into a syntax tree by recursive descent; expressions by operator precedence.
//!
//! | module | owns |
//! |---|---|
//! | [`cursor`] | the position in the tokens, keywords, names, lists |
//! | [`failure`] | the error of what was expected where, with the nearest known word |
//! | [`expr`], [`operator`], [`primary`], [`call`], [`special_form`], [`interval`], [`matcher`], [`window`], [`constant`] | expressions |
//! | [`data_type`] | types |
//! | [`select`], [`from`], [`sample`], [`order`], [`limit`], [`output`] | queries |
//! | [`statement`] | which statement it is |
//! | [`session`], [`administration`], [`system`] | SET, USE and the like; OPTIMIZE, CHECK, KILL; SYSTEM |
//! | [`access`] | users, roles, quotas, row policies, settings profiles |
//! | [`dictionary`] | CREATE DICTIONARY |
//! | [`create`], [`schema`], [`storage`], [`view`], [`insert`], [`alter`], [`show`], [`explain`], [`drop`], [`backup`], [`workload`], [`refresh`], [`token_list`] | the others |
//!
//! Invariants: (1) a function that returns `false` or `None` has consumed nothing; (2) the depth of
//! the tree is at most [`cursor::MAX_DEPTH`], so that recursive walks over it never overflow.

mod access;
mod administration;
mod alter;
mod backup;
mod call;
mod constant;
mod create;
mod cursor;
mod data_type;
mod dictionary;
mod drop;
mod explain;
mod expr;
mod failure;
mod from;
mod insert;
mod interval;
mod limit;
mod matcher;
mod operator;
mod order;
mod output;
mod primary;
mod refresh;
mod sample;
mod schema;
mod select;
mod session;
mod show;
mod special_form;
mod statement;
mod storage;
mod system;
mod token_list;
mod view;
mod window;
mod workload;

pub(crate) use cursor::Parser;
pub use cursor::{max_depth, use_stack};
pub(crate) use failure::edit_distance;
pub(crate) use interval::unit_of;
pub(crate) use special_form::is_special_call;
