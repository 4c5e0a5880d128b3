//! Finds the first of several rows again and again, by a tree of losers.
//!
//! ```text
//!        winner                 A node keeps who lost there; who won goes on to the node above.
//!          │                    When the winner is another row, only the nodes between its leaf
//!        node 1                 and the top are played again: log2(n) comparisons.
//!       ╱      ╲
//!   node 2    node 3
//!   ╱   ╲     ╱   ╲
//!  0     1   2     3
//! ```
//!
//! Knows nothing of rows: those who ask tell who comes before whom.

/// Who lost where, among a number of players.
#[derive(Debug)]
pub(super) struct Losers {
    winner: usize,
    /// Who lost at each node; the first is none.
    nodes: Vec<usize>,
}

impl Losers {
    /// Lets `num` players play, one at least; `beats` tells whether the first of two comes before the other.
    pub(super) fn new(num: usize, beats: impl Fn(usize, usize) -> bool) -> Self {
        let mut nodes = vec![0; num];
        // Who has won at each node, the leaves included.
        let mut winners: Vec<usize> = (0..num).chain(0..num).collect();
        for node in (1..num).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], nodes[node]) = if beats(a, b) { (a, b) } else { (b, a) };
        }
        Self {
            winner: winners.get(1).copied().unwrap_or(0),
            nodes,
        }
    }

    /// Who comes first.
    pub(super) fn winner(&self) -> usize {
        self.winner
    }

    /// The number of the winner's leaf: leaves follow the nodes.
    fn leaf(&self) -> usize {
        self.nodes.len() + self.winner
    }

    /// Who comes first of the others, if there are any.
    pub(super) fn runner_up(&self, beats: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let mut node = self.leaf() / 2;
        let mut best: Option<usize> = None;
        while node > 0 {
            let loser = self.nodes[node];
            if best.is_none_or(|best| beats(loser, best)) {
                best = Some(loser);
            }
            node /= 2;
        }
        best
    }

    /// Lets the winner, who is another row now, play again.
    #[inline(always)]
    pub(super) fn replay(&mut self, beats: impl Fn(usize, usize) -> bool) {
        let mut winner = self.winner;
        let mut node = self.leaf() / 2;
        while node > 0 {
            let loser = self.nodes[node];
            let is_beaten = beats(loser, winner);
            // Who wins is as good as random: choosing values does not guess, a branch would.
            self.nodes[node] = if is_beaten { winner } else { loser };
            winner = if is_beaten { loser } else { winner };
            node /= 2;
        }
        self.winner = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::Losers;

    #[test]
    fn all_come_in_order() {
        for num in 1..20usize {
            let mut rows: Vec<Vec<usize>> = (0..num)
                .map(|i| (0..7).map(|j| (i * 31 + j * j * 17) % 53).collect())
                .collect();
            for rows in &mut rows {
                rows.sort_unstable_by(|a, b| b.cmp(a));
            }
            let mut expected: Vec<(usize, usize)> = Vec::new();
            for (i, rows) in rows.iter().enumerate() {
                expected.extend(rows.iter().map(|row| (*row, i)));
            }
            expected.sort_unstable();
            let beats = |rows: &[Vec<usize>], a: usize, b: usize| {
                let head = |i: usize| (rows[i].last().copied().unwrap_or(usize::MAX), i);
                head(a) < head(b)
            };
            let mut losers = Losers::new(num, |a, b| beats(&rows, a, b));
            let mut found = Vec::new();
            for (row, i) in &expected {
                let winner = losers.winner();
                let second = (0..num)
                    .filter(|i| *i != winner)
                    .reduce(|a, b| if beats(&rows, b, a) { b } else { a });
                assert_eq!(losers.runner_up(|a, b| beats(&rows, a, b)), second);
                found.push((*row, winner));
                assert_eq!((rows[winner].pop(), winner), (Some(*row), *i));
                losers.replay(|a, b| beats(&rows, a, b));
            }
            assert_eq!(found, expected);
        }
    }
}
