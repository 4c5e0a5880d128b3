//! Statistics: variance, covariance, correlation, skewness, kurtosis, regression, tests.

use super::AggregateFunction;

mod bivariate;
mod hypothesis;

pub(crate) use hypothesis::distributions;
mod matrix;
mod moments;
mod univariate;

/// The functions of one argument.
pub(super) const UNIVARIATE: &[AggregateFunction] = univariate::FUNCTIONS;
/// The functions of two arguments.
pub(super) const BIVARIATE: &[AggregateFunction] = bivariate::FUNCTIONS;
/// Matrices over all pairs of arguments.
pub(super) const MATRICES: &[AggregateFunction] = matrix::FUNCTIONS;
/// Tests of hypotheses.
pub(super) const TESTS: [&[AggregateFunction]; 2] = hypothesis::FUNCTIONS;
