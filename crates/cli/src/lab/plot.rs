//! Draws time over size as SVG: a panel for each input, a line for each strategy.

use std::fmt::Write;

/// The measurements of one input.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) lines: Vec<Line>,
}

/// The measurements of one strategy.
pub(super) struct Line {
    pub(super) name: String,
    /// Place of the strategy among all, which gives the line its look in every plot.
    pub(super) place: usize,
    /// Rows and seconds, fewest rows first.
    pub(super) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 800.0;
const PANEL_HEIGHT: f64 = 380.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 55.0;

/// Least distance between the names at the ends of lines.
const NAME_HEIGHT: f64 = 16.0;

/// Colours on a light and on a dark page. Lines beyond them take the same ones, dashed.
const COLOURS: [(&str, &str); 6] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff9d5c"),
    ("#00815c", "#2fd0a0"),
    ("#b0308c", "#f08ad0"),
    ("#8a6d00", "#e6c229"),
    ("#5b4bb7", "#a79bff"),
];

/// The whole picture.
pub(super) fn svg(panels: &[Panel], caption: &str) -> String {
    let height = PANEL_HEIGHT * panels.len() as f64 + 30.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    out += &style();
    out += "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
    for (i, panel) in panels.iter().enumerate() {
        let shift = PANEL_HEIGHT * i as f64;
        let body = panel_body(panel);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "<g transform=\"translate(0 {shift})\">\n{body}</g>");
    }
    let bottom = height - 12.0;
    out += &text((LEFT, bottom), "start", "faint", caption);
    out += "</svg>\n";
    out
}

fn style() -> String {
    let colours = |is_dark: bool| -> String {
        let each = COLOURS.iter().enumerate().map(|(i, (light, dark))| {
            let colour = if is_dark { dark } else { light };
            format!(".c{i}{{stroke:{colour}}}")
        });
        each.collect()
    };
    let page = |back: &str, ink: &str, grid: &str| {
        format!(
            ".page{{fill:{back}}}text{{fill:{ink}}}.auto{{stroke:{ink}}}.grid{{stroke:{grid}}}\
             .axis{{stroke:{ink}}}"
        )
    };
    format!(
        "<style>\n.line{{fill:none;stroke-width:1.6;stroke-linejoin:round}}\
         .auto{{stroke-width:3}}.dashed{{stroke-dasharray:6 4}}.title{{font-size:15px;font-weight:bold}}\
         .faint{{opacity:.7}}\n{}{}\n@media (prefers-color-scheme:dark){{{}{}}}\n</style>\n",
        page("#ffffff", "#1b1b1b", "#dddddd"),
        colours(false),
        page("#14161a", "#e8e8e8", "#3a3d44"),
        colours(true),
    )
}

fn panel_body(panel: &Panel) -> String {
    let points = || panel.lines.iter().flat_map(|line| line.points.iter());
    let (most_rows, row_step) = scale(points().map(|p| p.0).fold(0.0, f64::max));
    let (most_seconds, second_step) = scale(points().map(|p| p.1).fold(0.0, f64::max));
    let x = |rows: f64| LEFT + (WIDTH - LEFT - RIGHT) * rows / most_rows;
    let y = |seconds: f64| {
        PANEL_HEIGHT - BOTTOM - (PANEL_HEIGHT - TOP - BOTTOM) * seconds / most_seconds
    };
    let mut out = text((LEFT, 26.0), "start", "title", &panel.title);
    for seconds in ticks(most_seconds, second_step) {
        let (left, right, at) = (x(0.0), x(most_rows), y(seconds));
        out += &segment("grid", (left, at), (right, at));
        out += &text((left - 8.0, at + 4.0), "end", "", &short(seconds));
    }
    for rows in ticks(most_rows, row_step) {
        let (at, bottom) = (x(rows), y(0.0));
        out += &segment("axis", (at, bottom), (at, bottom + 5.0));
        out += &text((at, bottom + 20.0), "middle", "", &rows_text(rows));
    }
    out += &segment("axis", (x(0.0), y(0.0)), (x(most_rows), y(0.0)));
    out += &segment("axis", (x(0.0), y(0.0)), (x(0.0), y(most_seconds)));
    out += &text((x(0.0), TOP - 8.0), "end", "faint", "seconds");
    out += &text((x(most_rows), y(0.0) + 38.0), "end", "faint", "rows");
    for line in &panel.lines {
        let class = class(line);
        let path: Vec<String> = line
            .points
            .iter()
            .map(|(rows, seconds)| format!("{:.1},{:.1}", x(*rows), y(*seconds)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline class=\"{class}\" points=\"{}\"/>",
            path.join(" ")
        );
    }
    let ends = panel.lines.iter().filter_map(|line| {
        let (_, seconds) = line.points.last()?;
        Some((line, y(*seconds)))
    });
    out + &names(ends.collect(), x(most_rows), y(0.0))
}

/// Names of lines beside their ends, moved apart where they would lie on each other.
fn names(mut ends: Vec<(&Line, f64)>, right: f64, lowest: f64) -> String {
    ends.sort_by(|a, b| b.1.total_cmp(&a.1));
    // Up from the lowest line, then down again where that left the panel.
    let mut limit = lowest;
    for (_, end) in &mut ends {
        *end = end.min(limit);
        limit = *end - NAME_HEIGHT;
    }
    let mut limit = TOP;
    let mut out = String::new();
    for (line, end) in ends.into_iter().rev() {
        let at = end.max(limit);
        limit = at + NAME_HEIGHT;
        out += &segment(&class(line), (right + 10.0, at), (right + 38.0, at));
        out += &text((right + 44.0, at + 4.0), "start", "", &line.name);
    }
    out
}

fn class(line: &Line) -> String {
    if line.name == "auto" {
        return "line auto".to_owned();
    }
    let dashed = if line.place / COLOURS.len() % 2 == 1 {
        " dashed"
    } else {
        ""
    };
    format!("line c{}{dashed}", line.place % COLOURS.len())
}

/// The end of an axis that reaches `most`, and the distance of its ticks.
fn scale(most: f64) -> (f64, f64) {
    if !(most > 0.0 && most.is_finite()) {
        return (1.0, 0.2);
    }
    let rough = most / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(rough);
    ((most / step - 1e-9).ceil() * step, step)
}

fn ticks(most: f64, step: f64) -> impl Iterator<Item = f64> {
    let num_ticks = (most / step).round() as u32;
    (0..=num_ticks).map(move |i| f64::from(i) * step)
}

/// A number without digits that are only rounding.
fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number of rows with its unit.
pub(super) fn rows_text(rows: f64) -> String {
    match rows {
        r if r >= 1e9 => format!("{} G", short(r / 1e9)),
        r if r >= 1e6 => format!("{} M", short(r / 1e6)),
        r if r >= 1e3 => format!("{} K", short(r / 1e3)),
        r => short(r),
    }
}

fn segment(class: &str, from: (f64, f64), to: (f64, f64)) -> String {
    format!(
        "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>\n",
        from.0, from.1, to.0, to.1
    )
}

fn text(at: (f64, f64), anchor: &str, class: &str, text: &str) -> String {
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    format!(
        "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{escaped}</text>\n",
        at.0, at.1
    )
}

#[cfg(test)]
mod tests {
    use super::{Line, Panel, rows_text, scale, svg};

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(scale(10.0), (10.0, 2.0));
        assert_eq!(scale(0.93), (1.0, 0.2));
        assert_eq!(scale(1e7), (1e7, 2e6));
        assert_eq!(scale(0.0), (1.0, 0.2));
        assert_eq!(rows_text(2.5e6), "2.5 M");
    }

    #[test]
    fn a_plot_has_a_line_and_a_name_for_each_strategy() {
        let line = |name: &str, place| Line {
            name: name.to_owned(),
            place,
            points: vec![(1e6, 0.1), (2e6, 0.2)],
        };
        let panel = Panel {
            title: "a < b".to_owned(),
            lines: vec![line("auto", 0), line("trivial", 2), line("datafusion", 10)],
        };
        let text = svg(&[panel], "caption");
        assert_eq!(text.matches("<polyline").count(), 3);
        assert!(text.contains(">datafusion</text>") && text.contains("a &lt; b"));
        assert_eq!(text.matches("<g ").count(), text.matches("</g>").count());
    }
}
