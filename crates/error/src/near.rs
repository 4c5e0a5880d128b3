//! Finds the known word that a misspelt one may have been meant as.

/// At most two of `names` within an edit distance of a third of the length, nearest first.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let limit = (wanted.chars().count() / 3).clamp(1, 3);
    let lower = wanted.to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .filter(|n| n.len().abs_diff(wanted.len()) <= limit && *n != wanted)
        .map(|n| (edit_distance(&lower, &n.to_ascii_lowercase()), n))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(2).map(|(_, n)| n).collect()
}

/// Insertions, deletions, replacements and swaps of neighbouring characters that turn `a` into `b`.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut left = None;
    for (i, x) in a.chars().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != *y);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if j > 0 && left == Some(*y) && x == b[j - 1] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        left = Some(x);
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
