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

/// Levenshtein distance in characters.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
