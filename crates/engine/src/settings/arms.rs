//! Forces arms of adaptive choices: the setting `force_choice`.

use basalt_adapt::Choice;
use basalt_error::{Error, ErrorCode, Result};

/// What queries decide by measuring, for who wants to decide it for them.
static CHOICES: [&Choice; 7] = [
    &basalt_codec::lz4::CHOICE,
    &basalt_kernels::average::LANES_CHOICE,
    &basalt_exec::group_by::AGGREGATE_ALL,
    &basalt_exec::group_by::AGGREGATE_BY_KEY,
    &basalt_exec::FILTER,
    &basalt_exec::filter_project::PROJECTION,
    &basalt_exec::compile::EXPRESSION,
];

/// The list `choice=arm, choice=arm` taken apart; an empty text forces nothing.
///
/// # Errors
/// `BAD_ARGUMENTS` if it is no such list, or if there is no such choice or arm.
fn pairs(list: &str) -> Result<Vec<(&'static Choice, &str)>> {
    let items = list.split(',').map(str::trim).filter(|i| !i.is_empty());
    items.map(pair).collect()
}

fn pair(item: &str) -> Result<(&'static Choice, &str)> {
    let (name, arm) = item.split_once('=').unwrap_or((item, ""));
    let (name, arm) = (name.trim(), arm.trim());
    let bad = |hint: String| Error::new(ErrorCode::BAD_ARGUMENTS, hint);
    let Some(choice) = CHOICES.into_iter().find(|c| c.name() == name) else {
        let names = CHOICES.map(Choice::name).join(", ");
        return Err(bad(format!(
            "Give setting force_choice as 'choice=arm', where the choice is one of {names}, not \
             '{item}'; GROUP BY and ORDER BY have settings of their own, group_by_strategy and sort_strategy"
        )));
    };
    if arm != "auto" {
        choice.arm_named(arm).map_err(|e| bad(e.to_string()))?;
    }
    Ok((choice, arm))
}

/// Whether the list is one.
///
/// # Errors
/// As [`force`].
pub(super) fn check(list: &str) -> Result<()> {
    pairs(list).map(|_| ())
}

/// Makes all queries take the arms of the list `choice=arm, choice=arm`, and measure for the choices that
/// are not on it.
///
/// # Errors
/// `BAD_ARGUMENTS` if it is no such list, or if there is no such choice or arm.
pub(crate) fn force(list: &str) -> Result<()> {
    let pairs = pairs(list)?;
    for choice in CHOICES {
        // The last one counts, as with settings.
        let forced = pairs.iter().rev().find(|(c, _)| c.name() == choice.name());
        let arm = forced.map_or("auto", |(_, arm)| arm);
        choice
            .force(arm)
            .map_err(|e| Error::new(ErrorCode::BAD_ARGUMENTS, e.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{CHOICES, check, pairs};

    #[test]
    fn lists_name_choices_and_arms() {
        assert!(pairs("").unwrap().is_empty());
        let list = "average_by_byte_key = runs, filter=selected,";
        let list = pairs(list).unwrap();
        let list: Vec<_> = list.into_iter().map(|(c, arm)| (c.name(), arm)).collect();
        assert_eq!(
            list,
            [("average_by_byte_key", "runs"), ("filter", "selected")]
        );
        for choice in CHOICES {
            let arms = choice.arms().iter().chain(&["auto"]);
            arms.for_each(|arm| check(&format!("{}={arm}", choice.name())).unwrap());
        }
    }

    #[test]
    fn what_is_no_choice_is_told_what_there_is() {
        for (list, hint) in [
            ("filters=all", "one of lz4_decompress, average_by_byte_key"),
            ("filter=some", "expected for filter one of auto, all"),
            ("filter", "expected for filter one of auto, all"),
        ] {
            let e = check(list).unwrap_err().to_string();
            assert!(e.contains(hint), "{e}");
        }
    }
}
