//! As much JSON as we need: what the console, benchmarks, profiles and traces write, and what is read back of it.

use std::collections::BTreeMap;
use std::fmt::Write;

/// An object that is being written.
///
/// ```
/// use blitz_core::text::json::object;
///
/// let mut out = String::new();
/// object(&mut out, |top| {
///     top.text("name", "a \"b\"\n");
///     top.objects("halves", [1, 2], |half, n| half.number("is", 0.5 * f64::from(n)));
/// });
/// assert_eq!(out, r#"{"name":"a \"b\"\n","halves":[{"is":0.500},{"is":1}]}"#);
/// ```
#[derive(Debug)]
pub struct Object<'a> {
    out: &'a mut String,
    first: bool,
}

/// Writes an object.
pub fn object(out: &mut String, fill: impl FnOnce(&mut Object<'_>)) {
    out.push('{');
    let mut object = Object { out, first: true };
    fill(&mut object);
    out.push('}');
}

/// Writes a list, one element for each of `items`.
fn list<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

impl Object<'_> {
    fn key(&mut self, key: &str) -> &mut String {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        text(self.out, key);
        self.out.push(':');
        self.out
    }

    /// A string.
    pub fn text(&mut self, key: &str, value: &str) {
        text(self.key(key), value);
    }

    /// A number; figures behind the third are nobody's business. What is not finite is 0.
    pub fn number(&mut self, key: &str, value: f64) {
        number(self.key(key), value);
    }

    /// A number with so many decimals; `null` if there is none, or if it is not finite, which JSON has no words for.
    pub fn decimals(&mut self, key: &str, value: Option<f64>, decimals: usize) {
        let out = self.key(key);
        match value.filter(|value| value.is_finite()) {
            Some(value) => drop(write!(out, "{value:.decimals$}")),
            None => out.push_str("null"),
        }
    }

    /// A whole number.
    pub fn count(&mut self, key: &str, value: u64) {
        let _ = write!(self.key(key), "{value}");
    }

    /// Nothing.
    pub fn null(&mut self, key: &str) {
        self.key(key).push_str("null");
    }

    /// True or false.
    pub fn flag(&mut self, key: &str, value: bool) {
        self.key(key).push_str(if value { "true" } else { "false" });
    }

    /// An object.
    pub fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) {
        object(self.key(key), fill);
    }

    /// A list of objects.
    pub fn objects<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut fill: impl FnMut(&mut Object<'_>, T),
    ) {
        list(self.key(key), items, |out, item| {
            object(out, |object| fill(object, item));
        });
    }

    /// A list of numbers.
    pub fn numbers(&mut self, key: &str, items: impl IntoIterator<Item = f64>) {
        list(self.key(key), items, number);
    }
}

/// A string as a literal, which may stand in a script as well.
fn text(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // The last two end a line in a script.
            control if control < ' ' || matches!(control, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn number(out: &mut String, value: f64) {
    if !value.is_finite() {
        out.push('0');
    } else if value == value.trunc() {
        let _ = write!(out, "{value:.0}");
    } else {
        let _ = write!(out, "{value:.3}");
    }
}

/// Something that was read.
///
/// ```
/// use blitz_core::text::json::Value;
///
/// let ada = Value::read(r#"{"name": "Ada", "year": 1815, "is_here": false}"#).unwrap();
/// assert_eq!((ada.at("name").text(), ada.at("year").number(), ada.at("is_here").flag()), ("Ada", 1815.0, false));
/// assert_eq!(ada.at("nothing"), &Value::Null);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Object(BTreeMap<String, Value>),
}

impl Value {
    /// Reads a text that is one value; `None` if it is not.
    ///
    /// ```
    /// use blitz_core::text::json::Value;
    /// let value = Value::read(r#"{"workers": [1, 2.5e1]}"#).unwrap();
    /// assert_eq!(value.at("workers").items()[1].number(), 25.0);
    /// ```
    pub fn read(text: &str) -> Option<Self> {
        let mut reader = Reader {
            text: text.as_bytes(),
            at: 0,
            depth: 0,
        };
        let value = reader.value()?;
        reader.skip_space();
        (reader.at == text.len()).then_some(value)
    }

    /// The member of an object; `Null` if there is none.
    pub fn at(&self, key: &str) -> &Value {
        match self {
            Value::Object(members) => members.get(key).unwrap_or(&Value::Null),
            _ => &Value::Null,
        }
    }

    /// The elements of a list; none, if it is none.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The number; 0 if it is none.
    pub fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            _ => 0.0,
        }
    }

    /// The string; empty if it is none.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// Is it `true`?
    pub fn flag(&self) -> bool {
        *self == Value::Flag(true)
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn next_is(&mut self, wanted: u8) -> bool {
        self.skip_space();
        let found = self.text.get(self.at) == Some(&wanted);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        let rest = self.text.get(self.at..)?;
        self.at += word.len();
        rest.starts_with(word.as_bytes()).then_some(value)
    }

    fn value(&mut self) -> Option<Value> {
        self.skip_space();
        match *self.text.get(self.at)? {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::list),
            b'"' => self.text().map(Value::Text),
            b't' => self.word("true", Value::Flag(true)),
            b'f' => self.word("false", Value::Flag(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.number(),
        }
    }

    /// A thousand levels are somebody's attempt to overflow our stack.
    fn nested(&mut self, read: fn(&mut Self) -> Option<Value>) -> Option<Value> {
        if self.depth == 64 {
            return None;
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Option<Value> {
        let mut members = BTreeMap::new();
        if self.next_is(b'}') {
            return Some(Value::Object(members));
        }
        loop {
            self.skip_space();
            let key = self.text()?;
            if !self.next_is(b':') {
                return None;
            }
            members.insert(key, self.value()?);
            if self.next_is(b'}') {
                return Some(Value::Object(members));
            }
            if !self.next_is(b',') {
                return None;
            }
        }
    }

    fn list(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        if self.next_is(b']') {
            return Some(Value::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.next_is(b']') {
                return Some(Value::List(items));
            }
            if !self.next_is(b',') {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let belongs = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let len = rest.iter().take_while(|byte| belongs(byte)).count();
        self.at += len;
        let text = std::str::from_utf8(&rest[..len]).ok()?;
        text.parse().ok().map(Value::Number)
    }

    fn text(&mut self) -> Option<String> {
        if !self.next_is(b'"') {
            return None;
        }
        let mut text = Vec::new();
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(text).ok(),
                b'\\' => {
                    let letter = self.escape()?;
                    text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                byte => text.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4)?;
                self.at += 4;
                let digits = std::str::from_utf8(digits).ok()?;
                // Halves of pairs are not written by us.
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            other => char::from(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut out = String::new();
        object(&mut out, |top| {
            top.text("name", "a \"quoted\" \\ line\nand é \u{2028}");
            top.number("half", 0.5);
            top.number("whole", 7.0);
            top.number("none", f64::NAN);
            top.count("large", u64::MAX);
            top.flag("yes", true);
            top.numbers("list", [1.0, 2.25]);
            top.objects("objects", [1.0, 2.0], |object, n| object.number("n", n));
            top.object("empty", |_| ());
        });
        let value = Value::read(&out).expect(&out);
        assert_eq!(
            value.at("name").text(),
            "a \"quoted\" \\ line\nand é \u{2028}"
        );
        assert_eq!(value.at("half").number(), 0.5);
        assert_eq!(value.at("whole"), &Value::Number(7.0));
        assert_eq!(value.at("none").number(), 0.0);
        assert!(value.at("yes").flag());
        assert_eq!(value.at("list").items().len(), 2);
        assert_eq!(value.at("objects").items()[1].at("n").number(), 2.0);
        assert_eq!(value.at("empty"), &Value::Object(BTreeMap::new()));
        assert_eq!(value.at("missing"), &Value::Null);
    }

    #[test]
    fn no_text_can_break_out_of_its_literal() {
        let literal = |words| {
            let mut out = String::new();
            text(&mut out, words);
            out
        };
        assert_eq!(literal("a\"b\\c\nd"), "\"a\\\"b\\\\c\\nd\"");
        assert_eq!(
            literal("line\nnext\ttab\u{1}"),
            r#""line\nnext\ttab\u0001""#
        );
        assert_eq!(literal("\u{2028}\r"), r#""\u2028\r""#);
        assert_eq!(literal("n-queens é"), "\"n-queens é\"");
    }

    #[test]
    fn decimals_are_as_many_as_asked_for() {
        let mut out = String::new();
        object(&mut out, |top| {
            top.decimals("a", Some(2.0), 2);
            top.decimals("b", Some(f64::INFINITY), 2);
            top.decimals("c", None, 2);
        });
        assert_eq!(out, r#"{"a":2.00,"b":null,"c":null}"#);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for wrong in [
            "",
            "{",
            "[1,",
            "{\"a\"}",
            "{\"a\":1,}",
            "tru",
            "\"a",
            "1 2",
            "[\"\\u12\"]",
            "nul",
        ] {
            assert_eq!(Value::read(wrong), None, "{wrong}");
        }
        assert_eq!(Value::read(&"[".repeat(100_000)), None);
    }
}
