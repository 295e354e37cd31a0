//! The attributes `#[blitz_io::main]` and `#[blitz_io::test]`, and the same two under tokio's name for the crate that stands in for it.
//!
//! Both turn an `async fn` into a plain one that makes a runtime and runs the body in it. The body's tokens are passed on as they
//! are, so errors inside of it are reported where they are. Arguments, rules and messages are tokio's.
//!
//! Use them from `blitz_io`, which re-exports them: its documentation has the examples. This crate has no features and needs Rust 1.85; what is in it may change in any release.

mod function;
mod settings;

use function::Function;
use proc_macro::{Span, TokenStream, TokenTree};
use settings::Settings;

/// Runs an `async fn main` in a runtime.
///
/// Arguments: `flavor = "multi_thread"` (the default), `"current_thread"` or `"local"`, `worker_threads = N`, `start_paused = true`,
/// `name = ".."`, `crate = "path"`.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand(arguments, function, &Kind::new("blitz_io", false))
}

/// Makes an `async fn` a test that runs in a runtime of its own: on the test's thread, unless the arguments say otherwise.
///
/// Arguments as for [`macro@main`]; the default flavour is `"current_thread"`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand(arguments, function, &Kind::new("blitz_io", true))
}

/// [`macro@main`], for a crate that is called `tokio`.
#[proc_macro_attribute]
pub fn tokio_main(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand(arguments, function, &Kind::new("tokio", false))
}

/// [`macro@test`], for a crate that is called `tokio`.
#[proc_macro_attribute]
pub fn tokio_test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand(arguments, function, &Kind::new("tokio", true))
}

/// Which attribute it is.
struct Kind {
    /// The library's name, and the path to it unless an argument says another.
    library: &'static str,
    is_test: bool,
}

impl Kind {
    fn new(library: &'static str, is_test: bool) -> Self {
        Kind { library, is_test }
    }

    /// What users write.
    fn attribute(&self) -> String {
        let name = if self.is_test { "test" } else { "main" };
        format!("{}::{name}", self.library)
    }
}

/// What is wrong, and where.
type Problem = (String, Span);

fn expand(arguments: TokenStream, function: TokenStream, kind: &Kind) -> TokenStream {
    let parsed = match Function::parse(function.clone()) {
        Ok(parsed) => parsed,
        Err(problem) => return with_error(function, problem),
    };
    let settings = parsed
        .check(kind)
        .and_then(|()| Settings::parse(arguments, kind));
    match settings {
        Ok(settings) => parsed.rewrite(&settings, kind),
        // With a runtime all the same, so that nothing but the real problem is reported.
        Err(problem) => with_error(parsed.rewrite(&Settings::default(), kind), problem),
    }
}

fn with_error(mut tokens: TokenStream, (message, span): Problem) -> TokenStream {
    let text = format!("::core::compile_error!{{{message:?}}}");
    let error: TokenStream = text.parse().expect("a macro call");
    tokens.extend(error.into_iter().map(|mut token| {
        token.set_span(span);
        token
    }));
    tokens
}

/// Is it this word?
fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}

/// Is it this sign?
fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}
