//! Statistics: variance, covariance, correlation, skewness, kurtosis, regression, tests.

use super::AggregateFunction;

mod bivariate;
mod moments;
mod univariate;

/// The functions of one argument.
pub(super) const UNIVARIATE: &[AggregateFunction] = univariate::FUNCTIONS;
/// The functions of two arguments.
pub(super) const BIVARIATE: &[AggregateFunction] = bivariate::FUNCTIONS;
