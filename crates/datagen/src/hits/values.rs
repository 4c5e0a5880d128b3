//! Computes the values of `hits` that take more than a look at the row.

use super::text::search_engine;
use super::{Arrival, Hit, Referer};
use crate::random::{draw, mix};
use crate::words::{Language, push_number, push_phrase};

/// Version of the Flash player: major, minor, build.
pub(super) const FLASH: &[((i16, i16, &str), u32)] = &[
    ((11, 7, "700"), 45),
    ((11, 8, "800"), 25),
    ((0, 0, ""), 14),
    ((11, 2, "202"), 8),
    ((11, 6, "602"), 5),
    ((10, 3, "183"), 3),
];
pub(super) const UTM_SOURCES: &[&str] = &[
    "yandex_direct",
    "yandex_direct",
    "google",
    "email",
    "market",
    "banner",
];
pub(super) const UTM_MEDIA: &[&str] = &["cpc", "cpc", "cpc", "cpm", "email", ""];

pub(super) fn region_key(hit: &Hit) -> u64 {
    mix(u64::from(hit.user.region.unsigned_abs()))
}

/// 0 without a referer, otherwise a number of the site that the referer belongs to.
pub(super) fn referer_draw(hit: &Hit, salt: u64, n: u64) -> u64 {
    match hit.referer {
        Referer::None => 0,
        Referer::Page(_) | Referer::Known => draw(hit.site.key, 5 + salt, n),
        Referer::Search(phrase) => u64::from(search_engine(phrase).unsigned_abs()) * salt,
        Referer::Link(number) => draw(number >> 6, salt, n),
        Referer::Advert(number) | Referer::Social(number) => draw(number % 3, salt, n),
    }
}

pub(super) fn depth(hit: &Hit) -> i16 {
    match hit.user.device.width {
        0 => 0,
        _ if hit.user.draw(11, 6) == 0 => 24,
        _ => 32,
    }
}

pub(super) fn traffic_source(hit: &Hit) -> i16 {
    match hit.source {
        Arrival::Internal => -1,
        Arrival::Direct => 0,
        Arrival::Link => 1,
        Arrival::Search => 2,
        Arrival::Advert => 3,
        Arrival::Unknown => 6,
        Arrival::Social => 8,
    }
}

pub(super) fn search_phrase(hit: &Hit, out: &mut String) {
    if let Some(phrase) = hit.phrase {
        push_phrase(phrase, out);
    }
}

pub(super) fn advert_engine(hit: &Hit) -> i16 {
    if hit.source != Arrival::Advert || hit.step > 0 {
        return 0;
    }
    [2, 2, 2, 27, 13, 44, 52][draw(hit.visit_key, 6, 7) as usize]
}

/// The window: the screen less the browser's frame, sometimes smaller.
pub(super) fn window(hit: &Hit, screen: i16, divisor: i16) -> i16 {
    let frame = screen / (divisor * 4) + draw(hit.visit_key, 7, 24) as i16;
    let smaller = if draw(hit.visit_key, 8, 6) == 0 {
        draw(hit.visit_key, 9, 300) as i16
    } else {
        0
    };
    (screen - frame - smaller).max(0)
}

pub(super) fn local(hit: &Hit, time: u32) -> u32 {
    time.saturating_add_signed(i32::from(hit.user.hours_from_utc) * 3600)
}

/// The user's clock: off by seconds, rarely by years.
pub(super) fn client_time(hit: &Hit) -> u32 {
    let drift = match hit.user.draw(12, 200) {
        0 => -200_000_000,
        1..20 => hit.user.draw(13, 7_200) as i32 - 3_600,
        _ => hit.user.draw(13, 60) as i32 - 30,
    };
    local(hit, hit.time).saturating_add_signed(drift)
}

pub(super) fn silverlight(hit: &Hit, version: i16) -> i16 {
    if hit.user.draw(14, 3) == 0 {
        version
    } else {
        0
    }
}

pub(super) fn charset(hit: &Hit) -> &'static str {
    let is_cyrillic = matches!(hit.site.language, Language::Russian | Language::Ukrainian);
    if is_cyrillic && draw(hit.site.key, 10, 3) == 0 {
        "windows-1251"
    } else {
        "utf-8"
    }
}

pub(super) fn first_visitor_id(hit: &Hit) -> i64 {
    if hit.user.draw(15, 4) == 0 {
        0
    } else {
        (mix(hit.user.key ^ 1) >> 1).cast_signed()
    }
}

pub(super) fn original_url(hit: &Hit, out: &mut String) {
    if hit.one_in(19, 12) {
        hit.referer.push_url(out);
    }
}

/// The value for users of known sex and age, else 0.
pub(super) fn known(hit: &Hit, value: i16) -> i16 {
    if hit.user.sex == 0 { 0 } else { value }
}

pub(super) fn history_length(hit: &Hit) -> i16 {
    if hit.user.draw(16, 3) == 0 {
        -1
    } else {
        (draw(hit.visit_key, 10, 8) + hit.step) as i16
    }
}

/// Milliseconds up to `most`, short ones often; one row in three has none.
pub(super) fn timing(hit: &Hit, salt: u64, most: u64) -> i32 {
    let lot = hit.draw(salt, 1 << 20);
    if lot.is_multiple_of(3) {
        return 0;
    }
    let share = lot as f64 / (1 << 20) as f64;
    (share * share * share * share * most as f64) as i32
}

fn social_number(hit: &Hit) -> Option<u64> {
    match hit.referer {
        Referer::Social(number) => Some(number),
        _ => None,
    }
}

pub(super) fn social_network(hit: &Hit) -> i16 {
    social_number(hit).map_or(0, |number| 1 + (number % 3) as i16 * 2)
}

pub(super) fn social_page(hit: &Hit, out: &mut String) {
    if let Some(number) = social_number(hit) {
        out.push_str(if number % 2 == 0 {
            "group/"
        } else {
            "profile/"
        });
        push_number(draw(number, 1, 900_000_000), out);
    }
}

/// Hundredths, for the few views that are orders.
pub(super) fn price(hit: &Hit) -> i64 {
    if hit.one_in(20, 1500) {
        hit.draw(21, 9_000).cast_signed() * 100 + 9_900
    } else {
        0
    }
}

pub(super) fn order_id(hit: &Hit, out: &mut String) {
    if price(hit) != 0 {
        push_number(hit.draw(22, 10_000_000), out);
    }
}

/// The number of the advertisement that the visit came by, for its first view.
pub(super) fn campaign_number(hit: &Hit) -> Option<u64> {
    match hit.referer {
        Referer::Advert(number) => Some(number),
        _ => None,
    }
}

pub(super) fn openstat(hit: &Hit, text: &'static str) -> &'static str {
    if campaign_number(hit).is_some_and(|number| number % 4 == 0) {
        text
    } else {
        ""
    }
}

pub(super) fn openstat_number(hit: &Hit, salt: u64, out: &mut String) {
    if let Some(number) = campaign_number(hit).filter(|number| number % 4 == 0) {
        push_number(draw(number, salt, 9_000_000) + 1_000_000, out);
    }
}

pub(super) fn campaign(hit: &Hit, salt: u64, texts: &[&'static str]) -> &'static str {
    match campaign_number(hit) {
        Some(number) => texts[draw(number, salt, texts.len() as u64) as usize],
        None => "",
    }
}

pub(super) fn utm_campaign(hit: &Hit, out: &mut String) {
    if let Some(number) = campaign_number(hit) {
        out.push_str(Language::English.vocabulary().word(number % 60, 1));
        out.push_str(["_search", "_network", "_sale"][draw(number, 3, 3) as usize]);
    }
}

pub(super) fn utm_term(hit: &Hit, out: &mut String) {
    if let Some(number) = campaign_number(hit) {
        push_phrase(number % 600, out);
    }
}
