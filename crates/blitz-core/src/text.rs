//! What reports are written with, and read: JSON, SVG, text inside of both, short times. Here for our other crates, too, so that there is one of each.
//!
//! Behind a feature, because a program that is not looked at needs none of it.

pub mod json;
pub mod plot;
pub mod svg;

/// Makes text safe inside of HTML and SVG, also between double quotes.
///
/// ```
/// assert_eq!(blitz_core::text::escape("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
/// ```
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A time with a unit that keeps it short.
///
/// ```
/// assert_eq!(blitz_core::text::human(8.5), "8.5 ns");
/// assert_eq!(blitz_core::text::human(13_784.0), "13.78 us");
/// ```
pub fn human(ns: f64) -> String {
    match ns {
        ns if ns < 1e2 => format!("{ns:.1} ns"),
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, human};

    #[test]
    fn no_text_can_break_out_of_its_element_or_attribute() {
        assert_eq!(escape("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
    }

    #[test]
    fn times_are_short_and_have_a_unit() {
        assert_eq!(human(8.5), "8.5 ns");
        assert_eq!(human(812.4), "812 ns");
        assert_eq!(human(13_784.0), "13.78 us");
        assert_eq!(human(29_000_000.0), "29.00 ms");
        assert_eq!(human(2.5e9), "2.50 s");
    }
}
