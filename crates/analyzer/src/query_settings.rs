//! The settings that count where the analyzer is: those of the statement, or of a subquery with SETTINGS of
//! its own.

use std::collections::BTreeMap;
use std::rc::Rc;

use basalt_error::Result;
use basalt_functions::Context;
use basalt_parser::ast;

use crate::Environment;
use crate::query::Analyzer;

/// The settings of a subquery, those of the queries around it included.
#[derive(Clone, Debug)]
pub struct QuerySettings {
    /// Settings that are not at their defaults, as text.
    pub changed: BTreeMap<String, String>,
    /// What functions may know, all settings among it.
    pub context: Context,
}

/// Where settings are asked for.
pub(crate) enum Current<'a> {
    Statement(&'a dyn Environment),
    Subquery(Rc<QuerySettings>),
}

impl Current<'_> {
    pub(crate) fn context(&self) -> &Context {
        match self {
            Self::Statement(environment) => environment.context(),
            Self::Subquery(settings) => &settings.context,
        }
    }

    /// Those of a subquery, if it has its own.
    pub(crate) fn own(&self) -> Option<&QuerySettings> {
        match self {
            Self::Statement(_) => None,
            Self::Subquery(settings) => Some(settings),
        }
    }

    /// Settings that are not at their defaults, as text.
    pub(crate) fn changed(&self) -> &BTreeMap<String, String> {
        match self {
            Self::Statement(environment) => environment.settings(),
            Self::Subquery(settings) => &settings.changed,
        }
    }

    /// Adds to the key of a function what tells it apart from the same one under other settings.
    pub(crate) fn tell_apart(&self, key: &mut String) {
        if let Self::Subquery(settings) = self {
            key.push_str(&format!(":{:?}", settings.changed));
        }
    }

    /// Whether a setting is on, its default included.
    pub(crate) fn flag(&self, setting: &str) -> bool {
        match self {
            Self::Statement(environment) => environment.flag(setting),
            Self::Subquery(settings) => settings.context.flag(setting),
        }
    }
}

impl<'a> Analyzer<'a> {
    /// The settings that count now.
    pub(crate) fn settings(&self) -> Current<'a> {
        match &*self.subquery_settings.borrow() {
            Some(settings) => Current::Subquery(Rc::clone(settings)),
            None => Current::Statement(self.environment),
        }
    }

    /// Whether a setting is on, its default included.
    pub(crate) fn flag(&self, setting: &str) -> bool {
        self.settings().flag(setting)
    }

    /// Plans under the SETTINGS of a SELECT; those of the statement itself count already.
    ///
    /// # Errors
    /// `UNKNOWN_SETTING` and what else is wrong with one, and what `plan` reports.
    pub(crate) fn under<T>(
        &self,
        settings: &[ast::Setting],
        plan: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if settings.is_empty() || !self.is_in_subquery() {
            return plan();
        }
        let around = self.settings();
        let own = self.environment.own_settings(around.changed(), settings);
        let span = settings.first().map(|s| s.span).unwrap_or_default();
        let own = own.map_err(|e| self.placed(e, span))?;
        let before = self.subquery_settings.replace(Some(Rc::new(own)));
        let planned = plan();
        self.subquery_settings.replace(before);
        planned
    }
}
