//! Lets forms compete: rounds in random order, medians, and a check that all results agree.

use std::hint::black_box;
use std::time::Instant;

use basalt_adapt::Random;
use basalt_error::{Error, Result};
use indicatif::{ProgressBar, ProgressStyle};

/// Runs a form once: its result, and the form that it chose if it is `auto`.
type Run<'a, R> = Box<dyn FnMut() -> Result<(R, Option<&'static str>)> + 'a>;

/// A form that takes part; `run` gives its result, and the form that it chose if it is `auto`.
pub(super) struct Entrant<'a, R> {
    pub(super) name: String,
    pub(super) order: String,
    pub(super) run: Run<'a, R>,
}

/// How an entrant did.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) name: String,
    pub(super) order: String,
    /// Median of the rounds.
    pub(super) seconds: f64,
    /// The fastest round.
    pub(super) best_seconds: f64,
    /// What `auto` chose in the last round.
    pub(super) picked: Option<&'static str>,
}

/// A bar on the terminal for `num_runs` runs, none elsewhere.
pub(super) fn progress(num_runs: usize) -> ProgressBar {
    use std::io::IsTerminal;
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(num_runs as u64);
    let style =
        ProgressStyle::with_template("{msg:30} {wide_bar:.cyan/blue} {pos}/{len} runs, {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// Lets every entrant run once in each round.
///
/// # Errors
/// If a run fails, or its result is not that of the first entrant.
pub(super) fn compete<R: PartialEq + Clone>(
    mut entrants: Vec<Entrant<'_, R>>,
    num_rounds: usize,
    random: &mut Random,
    bar: &ProgressBar,
) -> Result<Vec<Standing>> {
    let mut seconds = vec![Vec::with_capacity(num_rounds); entrants.len()];
    let mut picked = vec![None; entrants.len()];
    let mut expected = None;
    // The first round is in order, so that the baseline's result is there to compare with.
    let mut order: Vec<usize> = (0..entrants.len()).collect();
    for _ in 0..num_rounds {
        for &entrant in &order {
            let started = Instant::now();
            let (found, choice) = black_box((entrants[entrant].run)())?;
            seconds[entrant].push(started.elapsed().as_secs_f64());
            picked[entrant] = choice;
            let expected = expected.get_or_insert_with(|| found.clone());
            if *expected != found {
                return Err(Error::bug(format!(
                    "`{}` gave another result than `{}`",
                    entrants[entrant].name, entrants[0].name
                )));
            }
            bar.inc(1);
        }
        random.shuffle(&mut order);
    }
    let standings = entrants.into_iter().zip(seconds).zip(picked);
    Ok(standings
        .map(|((entrant, seconds), picked)| Standing {
            name: entrant.name,
            order: entrant.order,
            best_seconds: seconds.iter().copied().fold(f64::INFINITY, f64::min),
            seconds: median(seconds),
            picked,
        })
        .collect())
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use basalt_adapt::Random;
    use indicatif::ProgressBar;

    use super::{Entrant, compete, median};

    fn entrant(name: &str, result: u64) -> Entrant<'static, u64> {
        Entrant {
            name: name.to_owned(),
            order: String::new(),
            run: Box::new(move || Ok((result, None))),
        }
    }

    #[test]
    fn a_wrong_result_is_no_victory() {
        let run = |entrants| compete(entrants, 3, &mut Random::new(0), &ProgressBar::hidden());
        let standings = run(vec![entrant("a", 1), entrant("b", 1)]).unwrap();
        assert_eq!(standings.len(), 2);
        let e = run(vec![entrant("a", 1), entrant("b", 2)]).unwrap_err();
        assert!(e.message().contains("`b` gave another result than `a`"));
    }

    #[test]
    fn the_median_is_no_mean() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }
}
