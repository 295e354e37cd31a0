//! Pictures as SVG: elements, written from front to back into one text.
//!
//! An [`Element`] closes when it is dropped, so what is open is what the borrow checker holds open. Texts and attributes cannot break out of their place, and coordinates
//! have two decimals at most.

use super::escape;
use std::fmt::Write;

/// Where a text stands beside its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred.
    Middle,
    /// It ends there.
    End,
}

/// An element that is being written: attributes first, then what is inside.
///
/// ```
/// use blitz_core::text::svg::{Anchor, Element};
///
/// let mut out = String::new();
/// let mut svg = Element::picture(&mut out, [80.0, 20.0], "two & two");
/// svg.rect("bar", [0.0, 2.0], [1.0 / 3.0, 9.0]);
/// svg.text("", [80.0, 12.5], Anchor::End, "2 < 3");
/// drop(svg);
/// assert_eq!(
///     out,
///     "<svg viewBox=\"0 0 80 20\" role=\"img\"><title>two &amp; two</title>\n\
///      <rect class=\"bar\" x=\"0\" y=\"2\" width=\"0.33\" height=\"9\"/>\n\
///      <text x=\"80\" y=\"12.5\" text-anchor=\"end\">2 &lt; 3</text>\n</svg>\n"
/// );
/// ```
#[derive(Debug)]
pub struct Element<'a> {
    out: &'a mut String,
    name: &'static str,
    /// The tag at the beginning may get attributes.
    in_tag: bool,
}

impl<'a> Element<'a> {
    /// An element with nothing in it.
    pub fn new(out: &'a mut String, name: &'static str) -> Self {
        out.push('<');
        out.push_str(name);
        Element {
            out,
            name,
            in_tag: true,
        }
    }

    /// A picture inside of a page: it has coordinates of its own, and scales with its box.
    pub fn picture(out: &'a mut String, size: [f64; 2], title: &str) -> Self {
        let mut svg = Element::new(out, "svg")
            .with("viewBox", &view_box(size))
            .with("role", "img");
        svg.title(title);
        svg
    }

    /// A picture in a file of its own.
    pub fn document(out: &'a mut String, size: [f64; 2], title: &str, style: &str) -> Self {
        let mut svg = Element::new(out, "svg")
            .with("xmlns", "http://www.w3.org/2000/svg")
            .with("viewBox", &view_box(size))
            .with("role", "img");
        svg.title(title);
        svg.child("style").content(style);
        svg
    }

    /// An attribute; to be given before anything inside.
    pub fn with(self, name: &str, value: &str) -> Self {
        debug_assert!(self.in_tag, "{name} comes too late");
        let _ = write!(self.out, " {name}=\"{}\"", escape(value));
        self
    }

    /// The same for a number.
    pub fn number(self, name: &str, value: f64) -> Self {
        self.with(name, &short(value))
    }

    /// Text inside.
    pub fn content(&mut self, text: &str) {
        self.end_tag();
        self.out.push_str(&escape(text));
    }

    /// An element inside.
    pub fn child(&mut self, name: &'static str) -> Element<'_> {
        self.end_tag();
        Element::new(self.out, name)
    }

    /// What the whole is, for whoever points at it, or cannot see it.
    pub fn title(&mut self, text: &str) {
        self.child("title").content(text);
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        let line = self.child("line").with("class", class);
        let line = line.number("x1", from[0]).number("y1", from[1]);
        line.number("x2", to[0]).number("y2", to[1]);
    }

    /// Straight lines from point to point.
    pub fn path(&mut self, class: &str, points: impl IntoIterator<Item = [f64; 2]>) {
        let mut steps = String::new();
        for [x, y] in points {
            let step = if steps.is_empty() { "M" } else { " L" };
            let _ = write!(steps, "{step}{} {}", short(x), short(y));
        }
        self.child("path").with("class", class).with("d", &steps);
    }

    /// A rectangle.
    pub fn rect(&mut self, class: &str, at: [f64; 2], size: [f64; 2]) -> Element<'_> {
        let rect = self.child("rect").with("class", class);
        let rect = rect.number("x", at[0]).number("y", at[1]);
        rect.number("width", size[0]).number("height", size[1])
    }

    /// A circle.
    pub fn circle(&mut self, class: &str, at: [f64; 2], radius: f64) {
        let circle = self.child("circle").with("class", class);
        let circle = circle.number("cx", at[0]).number("cy", at[1]);
        circle.number("r", radius);
    }

    /// A line of text; without a class if that is empty.
    pub fn text(&mut self, class: &str, at: [f64; 2], anchor: Anchor, text: &str) {
        let mut words = self.child("text");
        if !class.is_empty() {
            words = words.with("class", class);
        }
        words = words.number("x", at[0]).number("y", at[1]);
        words = match anchor {
            Anchor::Start => words,
            Anchor::Middle => words.with("text-anchor", "middle"),
            Anchor::End => words.with("text-anchor", "end"),
        };
        words.content(text);
    }

    fn end_tag(&mut self) {
        if self.in_tag {
            self.in_tag = false;
            self.out.push('>');
        }
    }
}

impl Drop for Element<'_> {
    fn drop(&mut self) {
        if self.in_tag {
            self.out.push_str("/>\n");
        } else {
            let _ = writeln!(self.out, "</{}>", self.name);
        }
    }
}

fn view_box(size: [f64; 2]) -> String {
    format!("0 0 {} {}", short(size[0]), short(size[1]))
}

/// A number with two decimals at most. SVG knows no others than finite ones.
fn short(number: f64) -> String {
    if !number.is_finite() {
        return "0".into();
    }
    // Adding zero makes one of minus zero.
    format!("{}", (number * 100.0).round() / 100.0 + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_close_in_the_order_in_which_they_were_opened() {
        let mut out = String::new();
        let mut svg = Element::new(&mut out, "svg").with("class", "a\"b");
        svg.rect("", [0.0; 2], [f64::NAN, 1.005]).title("<here>");
        svg.child("g").child("g");
        drop(svg);
        let expected = "<svg class=\"a&quot;b\"><rect class=\"\" x=\"0\" y=\"0\" width=\"0\" height=\"1\"><title>&lt;here&gt;</title>\n\
            </rect>\n<g><g/>\n</g>\n</svg>\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn coordinates_are_short() {
        let numbers = [12.0, 12.345, -0.001, 1e6, f64::INFINITY].map(short);
        assert_eq!(numbers, ["12", "12.35", "0", "1000000", "0"]);
    }

    #[test]
    fn a_path_begins_once() {
        let mut out = String::new();
        Element::new(&mut out, "g").path("line", [[0.0, 1.0], [2.0, 3.5], [4.0, 5.0]]);
        assert!(out.contains("d=\"M0 1 L2 3.5 L4 5\""), "{out}");
    }
}
