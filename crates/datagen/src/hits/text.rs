//! Writes URLs, titles and referers as functions of numbers: the same page has the same texts in every row.

use super::site::{KNOWN_SITE, Site};
use crate::column::hash;
use crate::random::{Random, draw, mix, power_law};
use crate::words::{Language, Vocabulary, push_capitalised, push_number, push_phrase, push_words};

/// The URL and the referer that ClickBench's queries look for by hash.
const KNOWN_URL: &str = "http://weather.example.ru/forecast/moscow/?when=today&lang=ru";
const KNOWN_REFERER: &str = "http://weather.example.ru/forecast/map/?region=213";
const KNOWN_URL_HASH: u64 = 2_868_770_270_353_813_622;
const KNOWN_REFERER_HASH: u64 = 3_594_120_000_172_545_465;

/// XORed with the hash of a URL, so that the known one has the known hash.
pub(super) const URL_MASK: u64 = hash(KNOWN_URL) ^ KNOWN_URL_HASH;
/// XORed with the hash of a referer, likewise.
pub(super) const REFERER_MASK: u64 = hash(KNOWN_REFERER) ^ KNOWN_REFERER_HASH;

/// A page of a site.
#[derive(Clone, Copy)]
pub(super) struct Page {
    pub(super) site: Site,
    /// Rank among the site's pages, the most popular is 0.
    pub(super) number: u64,
    /// A visit's own parameter at the end of the URL; 0 for none.
    pub(super) tracking: u64,
}

/// Where a page was called from.
#[derive(Clone, Copy)]
pub(super) enum Referer {
    None,
    Page(Page),
    /// A search engine, with the number of the phrase.
    Search(u64),
    /// A page elsewhere, an advertisement, a social network: each with a number of its own.
    Link(u64),
    Advert(u64),
    Social(u64),
    /// The referer that has the known hash.
    Known,
}

const SECTIONS: [&str; 16] = [
    "catalog",
    "news",
    "forum",
    "search",
    "product",
    "real-estate",
    "auto",
    "photo",
    "video",
    "blog",
    "map",
    "recipe",
    "games",
    "cinema",
    "questions",
    "user",
];
const PARAMETERS: [&str; 12] = [
    "page",
    "sort",
    "id",
    "category",
    "city",
    "price_from",
    "price_to",
    "lang",
    "ref",
    "show",
    "tab",
    "order",
];
const SYLLABLES: [&str; 24] = [
    "mo", "ya", "kin", "avto", "dom", "ru", "ta", "ser", "lo", "bel", "ko", "mar", "ti", "vid",
    "o", "kub", "re", "sna", "po", "ga", "li", "nor", "ek", "za",
];

impl Page {
    /// A page of the site, popular ones often.
    pub(super) fn draw(site: Site, random: &mut Random) -> Self {
        let number = power_law(random.unit(), site.pages, 0.82);
        let tracking = if random.chance(0.08) {
            random.bits() | 1
        } else {
            0
        };
        Self {
            site,
            number,
            tracking,
        }
    }

    fn key(&self) -> u64 {
        mix(self.site.key ^ mix(self.number))
    }

    pub(super) fn push_url(&self, out: &mut String) {
        let key = self.key();
        if self.site.id == KNOWN_SITE && self.number < 2 && self.tracking == 0 {
            out.push_str(KNOWN_URL);
            return;
        }
        out.push_str(if draw(key, 0, 40) == 0 {
            "https://"
        } else {
            "http://"
        });
        push_domain(self.site.key, self.site.language.vocabulary(), out);
        out.push('/');
        if self.number == 0 {
            return;
        }
        out.push_str(SECTIONS[draw(key, 1, 16) as usize]);
        out.push('/');
        for part in 0..draw(key, 2, 4) {
            out.push_str(Language::English.vocabulary().word(key, 100 + part));
            out.push('/');
        }
        push_number(self.number, out);
        match draw(key, 6, 8) {
            0 => out.push_str(".html"),
            1 => push_google(key, out),
            2..7 => push_parameters(key, out),
            _ => {}
        }
        if self.tracking != 0 {
            out.push_str("#sid=");
            push_number(self.tracking >> 20, out);
        }
    }

    pub(super) fn push_title(&self, out: &mut String) {
        let (key, vocabulary) = (self.key(), self.site.language.vocabulary());
        push_capitalised(vocabulary.word(key, 8), out);
        out.push(' ');
        push_words(vocabulary, key, 2 + draw(key, 9, 6), out);
        if draw(key, 10, 150) == 0 {
            out.push_str(" - Google");
        }
        if draw(key, 11, 3) == 0 {
            return;
        }
        out.push_str([" - ", " | ", " — ", " :: "][draw(self.site.key, 2, 4) as usize]);
        push_capitalised(vocabulary.word(self.site.key, 3), out);
        out.push(' ');
        out.push_str(vocabulary.word(self.site.key, 4));
    }
}

impl Referer {
    /// The known referer for some of the known site's internal links.
    pub(super) fn known(self, site: Site, lot: u64) -> Self {
        let is_known = site.id == KNOWN_SITE && lot == 0 && matches!(self, Self::Page(_));
        if is_known { Self::Known } else { self }
    }

    pub(super) fn push_url(&self, out: &mut String) {
        match *self {
            Self::None => {}
            Self::Known => out.push_str(KNOWN_REFERER),
            Self::Page(page) => page.push_url(out),
            Self::Search(phrase) => push_search(phrase, out),
            Self::Link(number) => push_link(number, out),
            Self::Advert(number) => {
                out.push_str("http://an.yandex.ru/count/");
                push_number(mix(number), out);
                out.push_str("?test-tag=");
                push_number(number, out);
            }
            Self::Social(number) => {
                let host = [
                    "vk.com/id",
                    "odnoklassniki.ru/profile/",
                    "www.facebook.com/",
                ];
                out.push_str("http://");
                out.push_str(host[(number % 3) as usize]);
                push_number(draw(number, 0, 900_000_000), out);
            }
        }
    }
}

/// Search engines: how the URL of their results begins, code, share.
pub(super) fn search_engine(phrase: u64) -> i16 {
    [2, 2, 2, 2, 2, 3, 3, 3, 4, 13][draw(phrase, 40, 10) as usize]
}

fn push_search(phrase: u64, out: &mut String) {
    out.push_str(match search_engine(phrase) {
        2 => "http://yandex.ru/yandsearch?lr=213&text=",
        3 => "http://www.google.ru/search?hl=ru&q=",
        4 => "http://go.mail.ru/search?q=",
        _ => "http://nova.rambler.ru/search?query=",
    });
    let start = out.len();
    push_phrase(phrase, out);
    let escaped = out.split_off(start).replace(' ', "+");
    out.push_str(&escaped);
}

fn push_link(number: u64, out: &mut String) {
    let key = mix(number >> 6);
    out.push_str(if key & 1 == 0 {
        "http://"
    } else {
        "http://www."
    });
    push_domain(key, Language::English.vocabulary(), out);
    out.push('/');
    out.push_str(SECTIONS[draw(number, 0, 16) as usize]);
    out.push('/');
    push_number(number, out);
}

fn push_domain(key: u64, vocabulary: &Vocabulary, out: &mut String) {
    if draw(key, 20, 12) == 0 {
        out.push_str("www.");
    }
    for part in 0..2 + draw(key, 21, 2) {
        out.push_str(SYLLABLES[draw(key, 22 + part, 24) as usize]);
    }
    out.push('.');
    out.push_str(vocabulary.domain);
}

fn push_google(key: u64, out: &mut String) {
    if draw(key, 30, 4) == 0 {
        out.push_str("?utm_source=google&utm_medium=cpc&gclid=");
        push_number(draw(key, 31, 1 << 40), out);
    }
}

fn push_parameters(key: u64, out: &mut String) {
    for parameter in 0..1 + draw(key, 12, 5) {
        out.push(if parameter == 0 { '?' } else { '&' });
        out.push_str(PARAMETERS[draw(key, 50 + parameter, 12) as usize]);
        out.push('=');
        if draw(key, 70 + parameter, 3) == 0 {
            out.push_str(Language::English.vocabulary().word(key, 80 + parameter));
        } else {
            push_number(draw(key, 60 + parameter, 500_000), out);
        }
    }
}
