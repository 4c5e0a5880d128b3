//! Lists ClickBench's 105 columns in their order.

use super::Hit;
use super::text::{REFERER_MASK, URL_MASK, search_engine};
use super::values::{
    FLASH, UTM_MEDIA, UTM_SOURCES, advert_engine, campaign, campaign_number, charset, client_time,
    depth, first_visitor_id, history_length, known, local, openstat, openstat_number, order_id,
    original_url, price, referer_draw, region_key, search_phrase, silverlight, social_network,
    social_page, timing, traffic_source, utm_campaign, utm_term, window,
};
use crate::column::{Column, Fill};
use crate::random::{draw, mix, pick};

/// The columns of `hits`.
pub(super) const COLUMNS: &[Column<Hit>] = &[
    Column::plain(
        "WatchID",
        Fill::Int64(|hit| (mix(hit.noise) >> 1).cast_signed()),
    ),
    Column::plain(
        "JavaEnable",
        Fill::Int16(|hit| (hit.user.draw(2, 10) > 2).into()),
    ),
    Column::plain("Title", Fill::Text(|hit, out| hit.page.push_title(out))),
    Column::plain("GoodEvent", Fill::Int16(|_| 1)),
    Column::plain("EventTime", Fill::Time(|hit| hit.time)),
    Column::plain(
        "EventDate",
        Fill::Date(|hit| (hit.time / 86_400).cast_signed()),
    ),
    Column::plain("CounterID", Fill::Int32(|hit| hit.site.id)),
    Column::plain("ClientIP", Fill::Int32(|hit| hit.user.address())),
    Column::new("RegionID", Fill::Int32(|hit| hit.user.region)),
    Column::plain("UserID", Fill::Int64(|hit| hit.user.id)),
    Column::plain(
        "CounterClass",
        Fill::Int16(|hit| (draw(hit.site.key, 5, 4) == 0).into()),
    ),
    Column::new("OS", Fill::Int16(|hit| hit.user.device.os)),
    Column::new("UserAgent", Fill::Int16(|hit| hit.user.device.browser)),
    Column::plain("URL", Fill::Text(|hit, out| hit.page.push_url(out))),
    Column::plain("Referer", Fill::Text(|hit, out| hit.referer.push_url(out))),
    Column::new("IsRefresh", Fill::Int16(|hit| hit.is_refresh.into())),
    Column::new(
        "RefererCategoryID",
        Fill::Int16(|hit| referer_draw(hit, 1, 16_200) as i16),
    ),
    Column::new(
        "RefererRegionID",
        Fill::Int32(|hit| referer_draw(hit, 2, 1000) as i32),
    ),
    Column::plain(
        "URLCategoryID",
        Fill::Int16(|hit| draw(hit.site.key, 6, 14_000) as i16),
    ),
    Column::plain(
        "URLRegionID",
        Fill::Int32(|hit| draw(hit.site.key, 7, 700) as i32),
    ),
    Column::new("ResolutionWidth", Fill::Int16(|hit| hit.user.device.width)),
    Column::new(
        "ResolutionHeight",
        Fill::Int16(|hit| hit.user.device.height),
    ),
    Column::new("ResolutionDepth", Fill::Int16(depth)),
    Column::new(
        "FlashMajor",
        Fill::Int16(|hit| pick(FLASH, hit.user.key, 80).0),
    ),
    Column::new(
        "FlashMinor",
        Fill::Int16(|hit| pick(FLASH, hit.user.key, 80).1),
    ),
    Column::new(
        "FlashMinor2",
        Fill::Word(|hit| pick(FLASH, hit.user.key, 80).2),
    ),
    Column::new(
        "NetMajor",
        Fill::Int16(|hit| [0, 0, 0, 2, 1, 3][hit.user.draw(3, 6) as usize]),
    ),
    Column::new(
        "NetMinor",
        Fill::Int16(|hit| [0, 0, 0, 0, 7, 1][hit.user.draw(4, 6) as usize]),
    ),
    Column::new(
        "UserAgentMajor",
        Fill::Int16(|hit| hit.user.device.browser_major),
    ),
    Column::new(
        "UserAgentMinor",
        Fill::Word(|hit| hit.user.device.browser_minor),
    ),
    Column::plain(
        "CookieEnable",
        Fill::Int16(|hit| (hit.user.draw(5, 50) > 0).into()),
    ),
    Column::plain(
        "JavascriptEnable",
        Fill::Int16(|hit| (hit.user.draw(6, 80) > 0).into()),
    ),
    Column::new("IsMobile", Fill::Int16(|hit| hit.user.is_mobile().into())),
    Column::new("MobilePhone", Fill::Int16(|hit| hit.user.device.phone.0)),
    Column::new(
        "MobilePhoneModel",
        Fill::Word(|hit| hit.user.device.phone.1),
    ),
    Column::empty("Params"),
    Column::plain(
        "IPNetworkID",
        Fill::Int32(|hit| draw(region_key(hit), 1, 4_200_000) as i32),
    ),
    Column::new("TraficSourceID", Fill::Int16(traffic_source)),
    Column::new(
        "SearchEngineID",
        Fill::Int16(|hit| hit.phrase.map_or(0, search_engine)),
    ),
    Column::new("SearchPhrase", Fill::Text(search_phrase)),
    Column::plain("AdvEngineID", Fill::Int16(advert_engine)),
    Column::plain("IsArtifical", Fill::Int16(|hit| hit.one_in(2, 500).into())),
    Column::new(
        "WindowClientWidth",
        Fill::Int16(|hit| window(hit, hit.user.device.width, 3)),
    ),
    Column::new(
        "WindowClientHeight",
        Fill::Int16(|hit| window(hit, hit.user.device.height, 9)),
    ),
    Column::new(
        "ClientTimeZone",
        Fill::Int16(|hit| hit.user.hours_from_utc * 60),
    ),
    Column::plain("ClientEventTime", Fill::Time(client_time)),
    Column::plain(
        "SilverlightVersion1",
        Fill::Int16(|hit| silverlight(hit, 5)),
    ),
    Column::plain(
        "SilverlightVersion2",
        Fill::Int16(|hit| silverlight(hit, 1)),
    ),
    Column::plain(
        "SilverlightVersion3",
        Fill::Int32(|hit| i32::from(silverlight(hit, 20_125))),
    ),
    Column::zero("SilverlightVersion4"),
    Column::new("PageCharset", Fill::Word(charset)),
    Column::plain(
        "CodeVersion",
        Fill::Int32(|hit| 1601 - draw(hit.site.key, 9, 30) as i32),
    ),
    Column::plain("IsLink", Fill::Int16(|hit| hit.one_in(5, 15).into())),
    Column::plain("IsDownload", Fill::Int16(|hit| hit.one_in(6, 400).into())),
    Column::plain("IsNotBounce", Fill::Int16(|hit| hit.one_in(7, 30).into())),
    Column::plain("FUniqID", Fill::Int64(first_visitor_id)),
    Column::plain("OriginalURL", Fill::Text(original_url)),
    Column::plain("HID", Fill::Int32(|hit| hit.draw(8, 1 << 30) as i32)),
    Column::zero("IsOldCounter"),
    Column::zero("IsEvent"),
    Column::zero("IsParameter"),
    Column::new("DontCountHits", Fill::Int16(|hit| hit.one_in(10, 9).into())),
    Column::zero("WithHash"),
    Column::new(
        "HitColor",
        Fill::Word(|hit| ["5", "g", "g", "6"][hit.draw(11, 4) as usize]),
    ),
    Column::plain("LocalEventTime", Fill::Time(|hit| local(hit, hit.time))),
    Column::new("Age", Fill::Int16(|hit| hit.user.age)),
    Column::new("Sex", Fill::Int16(|hit| hit.user.sex)),
    Column::new(
        "Income",
        Fill::Int16(|hit| known(hit, hit.user.draw(8, 4) as i16)),
    ),
    Column::plain(
        "Interests",
        Fill::Int16(|hit| known(hit, hit.user.draw(9, 16_384) as i16)),
    ),
    Column::plain(
        "Robotness",
        Fill::Int16(|hit| hit.user.draw(10, 400).saturating_sub(300) as i16),
    ),
    Column::plain(
        "RemoteIP",
        Fill::Int32(|hit| mix(region_key(hit) ^ hit.user.key) as u32 as i32),
    ),
    Column::plain(
        "WindowName",
        Fill::Int32(|hit| draw(hit.visit_key, 5, 65_536) as i32 - 1),
    ),
    Column::plain("OpenerName", Fill::Int32(|_| -1)),
    Column::new("HistoryLength", Fill::Int16(history_length)),
    Column::new(
        "BrowserLanguage",
        Fill::Word(|hit| hit.user.language.vocabulary().code),
    ),
    Column::new(
        "BrowserCountry",
        Fill::Word(|hit| hit.user.language.vocabulary().country),
    ),
    Column::empty("SocialNetwork"),
    Column::empty("SocialAction"),
    Column::plain(
        "HTTPError",
        Fill::Int16(|hit| if hit.one_in(12, 2000) { 404 } else { 0 }),
    ),
    Column::plain("SendTiming", Fill::Int32(|hit| timing(hit, 13, 2_000))),
    Column::plain("DNSTiming", Fill::Int32(|hit| timing(hit, 14, 1_000))),
    Column::plain("ConnectTiming", Fill::Int32(|hit| timing(hit, 15, 1_500))),
    Column::plain(
        "ResponseStartTiming",
        Fill::Int32(|hit| timing(hit, 16, 20_000)),
    ),
    Column::plain(
        "ResponseEndTiming",
        Fill::Int32(|hit| timing(hit, 17, 30_000)),
    ),
    Column::plain("FetchTiming", Fill::Int32(|hit| timing(hit, 18, 30_000))),
    Column::plain("SocialSourceNetworkID", Fill::Int16(social_network)),
    Column::plain("SocialSourcePage", Fill::Text(social_page)),
    Column::plain("ParamPrice", Fill::Int64(price)),
    Column::plain("ParamOrderID", Fill::Text(order_id)),
    Column::plain("ParamCurrency", Fill::Word(|_| "RUB")),
    Column::zero("ParamCurrencyID"),
    Column::plain(
        "OpenstatServiceName",
        Fill::Word(|hit| openstat(hit, "direct.yandex.ru")),
    ),
    Column::plain(
        "OpenstatCampaignID",
        Fill::Text(|hit, out| openstat_number(hit, 1, out)),
    ),
    Column::plain(
        "OpenstatAdID",
        Fill::Text(|hit, out| openstat_number(hit, 2, out)),
    ),
    Column::plain(
        "OpenstatSourceID",
        Fill::Word(|hit| openstat(hit, "yandex.ru:guarantee")),
    ),
    Column::plain("UTMSource", Fill::Word(|hit| campaign(hit, 1, UTM_SOURCES))),
    Column::plain("UTMMedium", Fill::Word(|hit| campaign(hit, 2, UTM_MEDIA))),
    Column::plain("UTMCampaign", Fill::Text(utm_campaign)),
    Column::plain(
        "UTMContent",
        Fill::Word(|hit| campaign(hit, 4, &["", "", "", "5min", "top"])),
    ),
    Column::plain("UTMTerm", Fill::Text(utm_term)),
    Column::empty("FromTag"),
    Column::plain(
        "HasGCLID",
        Fill::Int16(|hit| (campaign_number(hit).is_some_and(|n| n % 9 == 0)).into()),
    ),
    Column::plain("RefererHash", Fill::HashOf("Referer", REFERER_MASK)),
    Column::plain("URLHash", Fill::HashOf("URL", URL_MASK)),
    Column::plain("CLID", Fill::Int32(|_| 0)),
];
