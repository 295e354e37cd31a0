//! The arguments of the attributes, and the runtime that they ask for.

use crate::{Kind, Problem, is_sign};
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

/// What the arguments say.
#[derive(Default)]
pub(crate) struct Settings {
    /// The path to the library, if it is not the usual one.
    pub(crate) library: Option<String>,
    flavor: Option<Flavor>,
    worker_threads: Option<(String, Span)>,
    start_paused: Option<(String, Span)>,
    unhandled_panic: Option<(String, Span)>,
    name: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavor {
    CurrentThread,
    MultiThread,
    Local,
}

/// A literal.
struct Value {
    text: String,
    span: Span,
}

const KNOWN: &str =
    "`flavor`, `worker_threads`, `start_paused`, `crate`, `unhandled_panic`, `name`";

impl Settings {
    pub(crate) fn parse(arguments: TokenStream, kind: &Kind) -> Result<Self, Problem> {
        let mut settings = Settings::default();
        let mut tokens = arguments.into_iter().peekable();
        while let Some(first) = tokens.next() {
            let span = first.span();
            let TokenTree::Ident(name) = first else {
                return Err(("Must have specified ident".into(), span));
            };
            let name = name.to_string().to_lowercase();
            let value = match tokens.next() {
                Some(equals) if is_sign(&equals, '=') => tokens.next(),
                None => return Err((without_value(&name, kind), span)),
                Some(comma) if is_sign(&comma, ',') => {
                    return Err((without_value(&name, kind), span));
                }
                Some(_) => return Err(("Unknown attribute inside the macro".into(), span)),
            };
            let Some(value) = value.and_then(literal) else {
                return Err(("Must be a literal".into(), span));
            };
            settings.set(&name, value, span)?;
            match tokens.next() {
                None => break,
                Some(comma) if is_sign(&comma, ',') => {}
                Some(other) => return Err(("expected `,`".into(), other.span())),
            }
        }
        settings.check(kind)?;
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: Value, span: Span) -> Result<(), Problem> {
        let at = value.span;
        let twice = |set: bool| match set {
            true => Err((format!("`{name}` set multiple times."), at)),
            false => Ok(()),
        };
        match name {
            "flavor" => {
                twice(self.flavor.is_some())?;
                self.flavor = Some(flavor(&value.string(name)?).map_err(|text| (text, at))?);
            }
            "worker_threads" => {
                twice(self.worker_threads.is_some())?;
                let threads = value.number(name)?;
                if threads == 0 {
                    return Err(("`worker_threads` may not be 0.".into(), at));
                }
                self.worker_threads = Some((threads.to_string(), at));
            }
            "start_paused" => {
                twice(self.start_paused.is_some())?;
                if value.text != "true" && value.text != "false" {
                    let message = "Failed to parse value of `start_paused` as bool.";
                    return Err((message.into(), at));
                }
                self.start_paused = Some((value.text, at));
            }
            "crate" => {
                twice(self.library.is_some())?;
                self.library = Some(value.path(name)?);
            }
            "unhandled_panic" => {
                twice(self.unhandled_panic.is_some())?;
                let variant = match value.string(name)?.as_str() {
                    "ignore" => "Ignore",
                    "shutdown_runtime" => "ShutdownRuntime",
                    other => {
                        return Err((
                            format!(
                                "No such unhandled panic behavior `{other}`. The unhandled panic behaviors are `ignore` and `shutdown_runtime`."
                            ),
                            at,
                        ));
                    }
                };
                self.unhandled_panic = Some((variant.into(), at));
            }
            "name" => {
                twice(self.name.is_some())?;
                value.string(name)?;
                self.name = Some(value.text);
            }
            "core_threads" => {
                let message = "Attribute `core_threads` is renamed to `worker_threads`";
                return Err((message.into(), span));
            }
            _ => return Err((unknown(name), span)),
        }
        Ok(())
    }

    /// Do they go together?
    fn check(&self, kind: &Kind) -> Result<(), Problem> {
        let flavor = self.flavor(kind);
        let needs = |option: &str, needed: &str| {
            format!(
                "The `{option}` option requires the `{needed}` runtime flavor. Use `#[{}(flavor = \"{needed}\")]`",
                kind.attribute()
            )
        };
        if let (true, Some((_, span))) = (flavor != Flavor::MultiThread, &self.worker_threads) {
            return Err((needs("worker_threads", "multi_thread"), *span));
        }
        if let (Flavor::MultiThread, Some((_, span))) = (flavor, &self.start_paused) {
            return Err((needs("start_paused", "current_thread"), *span));
        }
        if let (Flavor::MultiThread, Some((_, span))) = (flavor, &self.unhandled_panic) {
            return Err((needs("unhandled_panic", "current_thread"), *span));
        }
        Ok(())
    }

    fn flavor(&self, kind: &Kind) -> Flavor {
        let usual = if kind.is_test {
            Flavor::CurrentThread
        } else {
            Flavor::MultiThread
        };
        self.flavor.unwrap_or(usual)
    }

    /// The path to the library.
    pub(crate) fn library<'a>(&'a self, kind: &Kind) -> &'a str {
        let usual = match kind.library {
            "blitz_io" => "::blitz_io",
            // Whatever the caller calls so: it may have it from somewhere else.
            library => library,
        };
        self.library.as_deref().unwrap_or(usual)
    }

    /// The expression that makes the runtime.
    pub(crate) fn runtime(&self, kind: &Kind) -> String {
        let library = self.library(kind);
        let flavor = self.flavor(kind);
        let new = match flavor {
            Flavor::MultiThread => "new_multi_thread",
            Flavor::CurrentThread | Flavor::Local => "new_current_thread",
        };
        let mut text = format!("{library}::runtime::Builder::{new}()");
        let mut call = |method: &str, argument: &str| text += &format!(".{method}({argument})");
        if let Some((threads, _)) = &self.worker_threads {
            call("worker_threads", threads);
        }
        if let Some((paused, _)) = &self.start_paused {
            call("start_paused", paused);
        }
        if let Some((variant, _)) = &self.unhandled_panic {
            let path = format!("{library}::runtime::UnhandledPanic::{variant}");
            call("unhandled_panic", &path);
        }
        if let Some(name) = &self.name {
            call("name", name);
        }
        call("enable_all", "");
        match flavor {
            Flavor::Local => call("build_local", "::core::default::Default::default()"),
            _ => call("build", ""),
        }
        call("expect", "\"Failed building the Runtime\"");
        text
    }
}

fn flavor(name: &str) -> Result<Flavor, String> {
    match name {
        "current_thread" => Ok(Flavor::CurrentThread),
        "multi_thread" => Ok(Flavor::MultiThread),
        "local" => Ok(Flavor::Local),
        "single_thread" => {
            Err("The single threaded runtime flavor is called `current_thread`.".into())
        }
        "basic_scheduler" => {
            Err("The `basic_scheduler` runtime flavor has been renamed to `current_thread`.".into())
        }
        "threaded_scheduler" => Err(
            "The `threaded_scheduler` runtime flavor has been renamed to `multi_thread`.".into(),
        ),
        _ => Err(format!(
            "No such runtime flavor `{name}`. The runtime flavors are `current_thread`, `local`, and `multi_thread`."
        )),
    }
}

/// A name that needs a value has none.
fn without_value(name: &str, kind: &Kind) -> String {
    let attribute = kind.attribute();
    let flavored = |flavor: &str| {
        format!("Set the runtime flavor with #[{attribute}(flavor = \"{flavor}\")].")
    };
    match name {
        "threaded_scheduler" | "multi_thread" => flavored("multi_thread"),
        "basic_scheduler" | "current_thread" | "single_threaded" => flavored("current_thread"),
        "flavor" | "worker_threads" | "start_paused" | "crate" | "unhandled_panic" | "name" => {
            format!("The `{name}` attribute requires an argument.")
        }
        _ => unknown(name),
    }
}

fn unknown(name: &str) -> String {
    format!("Unknown attribute {name} is specified; expected one of: {KNOWN}.")
}

/// The literal that the token is, also in the invisible brackets of a macro's argument.
fn literal(token: TokenTree) -> Option<Value> {
    let span = token.span();
    match token {
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            Some(Value { text, span })
        }
        TokenTree::Ident(word) => {
            let text = word.to_string();
            (text == "true" || text == "false").then_some(Value { text, span })
        }
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut inside = group.stream().into_iter();
            let found = literal(inside.next()?)?;
            inside.next().is_none().then_some(found)
        }
        _ => None,
    }
}

impl Value {
    fn string(&self, name: &str) -> Result<String, Problem> {
        let plain = self.text.trim_start_matches('r').trim_matches('#');
        let inside = plain
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        match inside {
            Some(inside) => Ok(inside.to_owned()),
            None => Err((
                format!("Failed to parse value of `{name}` as string."),
                self.span,
            )),
        }
    }

    fn number(&self, name: &str) -> Result<usize, Problem> {
        let failed = format!("Failed to parse value of `{name}` as integer");
        let text = self.text.replace('_', "");
        let digits = text.strip_suffix("usize").unwrap_or(&text);
        if !digits.starts_with(|first: char| first.is_ascii_digit()) {
            return Err((format!("{failed}."), self.span));
        }
        digits
            .parse()
            .map_err(|error| (format!("{failed}: {error}"), self.span))
    }

    fn path(&self, name: &str) -> Result<String, Problem> {
        let Ok(text) = self.string(name) else {
            return Err((
                format!("Failed to parse value of `{name}` as path."),
                self.span,
            ));
        };
        let is_part = |part: &str| {
            let word = part.strip_prefix("r#").unwrap_or(part);
            let mut letters = word.chars();
            letters
                .next()
                .is_some_and(|first| first.is_alphabetic() || first == '_')
                && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let parts = text.strip_prefix("::").unwrap_or(&text).split("::");
        if parts.map(str::trim).all(is_part) {
            return Ok(text);
        }
        let message = format!("Failed to parse value of `{name}` as path: \"{text}\"");
        Err((message, self.span))
    }
}
