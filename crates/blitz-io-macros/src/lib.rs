//! The attributes `#[blitz_io::main]` and `#[blitz_io::test]`.
//!
//! Both turn an `async fn` into a plain one that makes a runtime and runs the body in it. The body's tokens are passed on as they
//! are, so errors inside of it are reported where they are.

use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::fmt::Write;

/// Runs an `async fn main` in a runtime.
///
/// Arguments: `worker_threads = N`, `flavor = "multi_thread"` (the default) or `"current_thread"`, `start_paused = true`.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand(arguments, function, false)
}

/// Makes an `async fn` a test that runs in a runtime of its own: on the test's thread, unless the arguments say otherwise.
///
/// Arguments as for [`macro@main`]; the default flavour is `"current_thread"`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand(arguments, function, true)
}

fn expand(arguments: TokenStream, function: TokenStream, is_test: bool) -> TokenStream {
    let rewritten = builder(arguments, is_test)
        .and_then(|builder| rewrite(&builder, function.clone(), is_test));
    match rewritten {
        Ok(rewritten) => rewritten,
        // The function stays as it is, so that nothing but the real problem is reported.
        Err((message, span)) => {
            let mut tokens = compile_error(&message, span);
            tokens.extend(function);
            tokens
        }
    }
}

type Problem = (String, Span);

fn compile_error(message: &str, span: Span) -> TokenStream {
    let text = format!("::core::compile_error!({message:?});");
    let tokens: TokenStream = text.parse().expect("a macro call");
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}

/// The expression that makes the runtime.
fn builder(arguments: TokenStream, is_test: bool) -> Result<String, Problem> {
    let mut current_thread = is_test;
    // What was said, and where.
    let (mut asks_for_one, mut asks_for_workers) = (false, None);
    let mut settings = String::new();
    let mut tokens = arguments.into_iter();
    while let Some(name) = tokens.next() {
        let span = name.span();
        let name = name.to_string();
        let value = match (tokens.next(), tokens.next()) {
            (Some(TokenTree::Punct(equals)), Some(value)) if equals.as_char() == '=' => value,
            _ => return Err((format!("expected `{name} = value`"), span)),
        };
        let text = value.to_string();
        match (name.as_str(), text.as_str()) {
            ("flavor", "\"current_thread\"") => {
                current_thread = true;
                asks_for_one = true;
            }
            ("flavor", "\"multi_thread\"") => current_thread = false,
            ("flavor", _) => {
                let message = "flavor: expected \"multi_thread\" or \"current_thread\"";
                return Err((message.into(), value.span()));
            }
            ("worker_threads", "0") => {
                let message = "worker_threads: a runtime needs at least one thread";
                return Err((message.into(), value.span()));
            }
            ("worker_threads", _) => {
                asks_for_workers = Some(span);
                current_thread = false;
                write!(settings, ".worker_threads({text})").expect("strings take everything");
            }
            ("start_paused", "true" | "false") => {
                write!(settings, ".start_paused({text})").expect("strings take everything");
            }
            ("start_paused", _) => {
                return Err(("start_paused: expected true or false".into(), value.span()));
            }
            _ => {
                let known = "`flavor`, `worker_threads` and `start_paused`";
                return Err((
                    format!("unknown argument `{name}`; there are {known}"),
                    span,
                ));
            }
        }
        match tokens.next() {
            None => break,
            Some(TokenTree::Punct(comma)) if comma.as_char() == ',' => {}
            Some(other) => return Err(("expected a comma".into(), other.span())),
        }
    }
    if let (true, Some(span)) = (asks_for_one, asks_for_workers) {
        let message =
            "worker_threads: a current-thread runtime has no workers; leave one of the two out";
        return Err((message.into(), span));
    }
    let flavour = if current_thread {
        "new_current_thread"
    } else {
        "new_multi_thread"
    };
    Ok(format!("::blitz_io::Builder::{flavour}(){settings}"))
}

/// Takes the `async` away, and wraps the body.
fn rewrite(builder: &str, function: TokenStream, is_test: bool) -> Result<TokenStream, Problem> {
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    let is_word = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident.to_string() == word);
    let fn_at = tokens.iter().position(|token| is_word(token, "fn"));
    let Some(fn_at) = fn_at else {
        return Err(("expected an `async fn`".into(), Span::call_site()));
    };
    let async_at = tokens[..fn_at]
        .iter()
        .position(|token| is_word(token, "async"));
    let Some(async_at) = async_at else {
        let message = "the function has to be `async`: its body runs in the runtime";
        return Err((message.into(), tokens[fn_at].span()));
    };
    let arguments = tokens[fn_at..].iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group),
        _ => None,
    });
    if let Some(arguments) = arguments.filter(|arguments| !arguments.stream().is_empty()) {
        let message = "the function cannot have arguments: nobody would pass them";
        return Err((message.into(), arguments.span()));
    }
    let Some(TokenTree::Group(body)) = tokens.pop() else {
        return Err(("the function needs a body".into(), Span::call_site()));
    };
    tokens.remove(async_at);

    let mut future = TokenStream::new();
    future.extend([
        TokenTree::Ident(Ident::new("async", Span::call_site())),
        TokenTree::Group(body.clone()),
    ]);
    let mut statement: TokenStream =
        format!("{builder}.build().expect(\"the runtime starts\").block_on")
            .parse()
            .expect("a method call");
    statement.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, future))]);
    let mut wrapped = Group::new(Delimiter::Brace, statement);
    wrapped.set_span(body.span());

    let mut result = TokenStream::new();
    if is_test {
        result.extend(
            "#[::core::prelude::v1::test]"
                .parse::<TokenStream>()
                .expect("an attribute"),
        );
    }
    result.extend(tokens);
    result.extend([TokenTree::Group(wrapped)]);
    Ok(result)
}
