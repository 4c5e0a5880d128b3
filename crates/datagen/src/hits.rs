//! Makes page views with ClickBench's 105 columns.
//!
//! | module | owns |
//! |---|---|
//! | `site` | the sites (CounterID), their share of all rows and the order of rows |
//! | `user` | what belongs to a user: id, place, browser, screen, age |
//! | `text` | URLs, titles and referers as functions of numbers |
//! | `columns` | the 105 columns |
//! | `values` | those of their values that are more than a look at the row |
//!
//! Rows stand in the order of site and time: the row's number gives both, so pieces need nothing of each other.
//! A visit is a run of rows with one user on one site; its first page may come from a search, the others come from
//! the page before. Everything that ClickBench's queries look for by value exists: site 62, one user, one URL and
//! one referer of known hash.

mod columns;
mod site;
mod text;
mod user;
mod values;

use crate::column::{Column, Piece, Source};
use crate::random::{Random, draw, mix, pick, power_law};
use site::{Site, Sites};
use text::{Page, Referer};
use user::User;

/// Makes the rows of a piece, visit by visit.
pub(crate) struct Visits {
    random: Random,
    sites: Sites,
    users: u64,
    phrases: u64,
    row: u64,
    visit: Visit,
    rows_left: u64,
}

/// What all rows of a visit share.
#[derive(Clone, Copy)]
struct Visit {
    site: Site,
    user: User,
    key: u64,
    /// Time of the latest page.
    time: u32,
    page: Page,
    /// Number of the page in the visit, from 0.
    step: u64,
    source: Arrival,
}

/// How a visitor came to the page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Internal,
    Direct,
    Search,
    Link,
    Advert,
    Social,
    Unknown,
}

const ARRIVALS: &[(Arrival, u32)] = &[
    (Arrival::Search, 46),
    (Arrival::Direct, 22),
    (Arrival::Link, 18),
    (Arrival::Advert, 5),
    (Arrival::Social, 4),
    (Arrival::Internal, 3),
    (Arrival::Unknown, 2),
];

/// One page view.
pub(crate) struct Hit {
    site: Site,
    user: User,
    visit_key: u64,
    step: u64,
    time: u32,
    page: Page,
    referer: Referer,
    source: Arrival,
    /// Number of the search phrase.
    phrase: Option<u64>,
    is_refresh: bool,
    noise: u64,
}

impl Hit {
    /// A number below `n` of this row's own; different salts give unrelated numbers.
    fn draw(&self, salt: u64, n: u64) -> u64 {
        draw(self.noise, salt, n)
    }

    /// True in one of `n` rows.
    fn one_in(&self, salt: u64, n: u64) -> bool {
        self.draw(salt, n) == 0
    }
}

impl Source for Visits {
    type Row = Hit;
    const COLUMNS: &'static [Column<Hit>] = columns::COLUMNS;
    const GROUP_ROWS: u64 = 500_000;

    fn new(piece: Piece) -> Self {
        let sites = Sites::new(piece.seed, piece.total);
        let (site, time) = sites.at(piece.first);
        let page = Page {
            site,
            number: 0,
            tracking: 0,
        };
        let user = User::new(0, piece.seed);
        let visit = Visit {
            site,
            user,
            key: 0,
            time,
            page,
            step: 0,
            source: Arrival::Direct,
        };
        Self {
            random: piece.random,
            sites,
            users: (piece.total / 6).max(100),
            phrases: (piece.total / 16).max(100),
            row: piece.first,
            visit,
            rows_left: 0,
        }
    }

    fn next_row(&mut self) -> Hit {
        let starts = self.rows_left == 0;
        if starts {
            self.start_visit();
        }
        let (referer, is_refresh) = if starts {
            (self.first_referer(), false)
        } else {
            self.next_page()
        };
        let hit = self.hit(referer, is_refresh);
        self.rows_left -= 1;
        self.row += 1;
        hit
    }
}

impl Visits {
    fn start_visit(&mut self) {
        let (site, time) = self.sites.at(self.row);
        let random = &mut self.random;
        let pages = -2.6 * (1.0 - random.unit()).ln();
        self.rows_left = (1 + pages as u64).min(self.sites.rows_left(self.row));
        let user = User::new(
            power_law(random.unit(), self.users, 0.55),
            self.sites.seed(),
        );
        let key = random.bits();
        let page = Page::draw(site, random);
        let source = pick(ARRIVALS, key, 1);
        self.visit = Visit {
            site,
            user,
            key,
            time,
            page,
            step: 0,
            source,
        };
    }

    /// Where the first page of the visit was called from.
    fn first_referer(&mut self) -> Referer {
        let visit = &self.visit;
        match visit.source {
            Arrival::Search => Referer::Search(self.new_phrase()),
            Arrival::Direct | Arrival::Unknown => Referer::None,
            Arrival::Internal => Referer::Page(Page::draw(visit.site, &mut self.random)),
            Arrival::Link => Referer::Link(power_law(self.random.unit(), 1 << 20, 0.8)),
            Arrival::Advert => Referer::Advert(draw(visit.key, 3, 5000)),
            Arrival::Social => Referer::Social(draw(visit.key, 4, 100_000)),
        }
    }

    fn new_phrase(&mut self) -> u64 {
        power_law(self.random.unit(), self.phrases, 0.65)
    }

    /// A later page of the visit: the same one again, one from a new search, or one that the last one links to.
    /// Where it was called from, and whether it is the same one.
    fn next_page(&mut self) -> (Referer, bool) {
        self.visit.time += 3 + self.random.gamma2(25.0) as u32;
        self.visit.step += 1;
        let is_refresh = self.random.chance(0.14);
        let from = self.visit.page;
        let mut referer = Referer::Page(from);
        if !is_refresh {
            if self.visit.source == Arrival::Search && self.random.chance(0.13) {
                referer = Referer::Search(self.new_phrase());
            }
            self.visit.page = Page::draw(self.visit.site, &mut self.random);
        }
        (referer, is_refresh)
    }

    fn hit(&mut self, referer: Referer, is_refresh: bool) -> Hit {
        let visit = &self.visit;
        let noise = self.random.bits();
        let (phrase, source) = match referer {
            Referer::Search(phrase) => (Some(phrase), Arrival::Search),
            Referer::Page(_) => (None, Arrival::Internal),
            _ => (None, visit.source),
        };
        Hit {
            site: visit.site,
            user: visit.user,
            visit_key: visit.key,
            step: visit.step,
            time: visit.time,
            page: visit.page,
            referer: referer.known(visit.site, draw(noise, 99, 8)),
            source,
            phrase,
            is_refresh,
            noise: mix(noise ^ self.row),
        }
    }
}

#[cfg(test)]
mod tests;
