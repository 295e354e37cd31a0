//! The function under the attribute: taken apart, and put together again without its `async`.

use crate::settings::Settings;
use crate::{Kind, Problem, is_sign, is_word};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

/// An `async fn`, in pieces.
pub(crate) struct Function {
    /// Attributes.
    attributes: Vec<TokenTree>,
    /// Everything from there to the body, without `async`.
    signature: Vec<TokenTree>,
    was_async: bool,
    fn_span: Span,
    name: TokenTree,
    has_arguments: bool,
    /// The type that it returns, if it says one.
    output: Option<TokenStream>,
    body: Group,
}

impl Function {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self, Problem> {
        let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let expected = || ("expected an `async fn`".to_owned(), Span::call_site());
        let body = match tokens.pop() {
            Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body,
            _ => return Err(expected()),
        };
        let mut attributes = Vec::new();
        while tokens.first().is_some_and(|token| is_sign(token, '#')) && tokens.len() > 1 {
            attributes.extend(tokens.drain(..2));
        }
        let fn_at = tokens.iter().position(|token| is_word(token, "fn"));
        let fn_at = fn_at.ok_or_else(expected)?;
        let fn_span = tokens[fn_at].span();
        let name = tokens.get(fn_at + 1).cloned().ok_or_else(expected)?;
        let arguments_at = arguments(&tokens, fn_at + 2).ok_or_else(expected)?;
        let TokenTree::Group(arguments) = &tokens[arguments_at] else {
            return Err(expected());
        };
        let has_arguments = !arguments.stream().is_empty();
        let output = output(&tokens[arguments_at + 1..]);
        let async_at = tokens[..fn_at]
            .iter()
            .position(|token| is_word(token, "async"));
        if let Some(async_at) = async_at {
            tokens.remove(async_at);
        }
        Ok(Function {
            attributes,
            signature: tokens,
            was_async: async_at.is_some(),
            fn_span,
            name,
            has_arguments,
            output,
            body,
        })
    }

    /// Can it be what the attribute says?
    pub(crate) fn check(&self, kind: &Kind) -> Result<(), Problem> {
        let second = self.attributes.iter().find(|tree| is_test_attribute(tree));
        if let (true, Some(second)) = (kind.is_test, second) {
            let message = "second test attribute is supplied, consider removing or changing the order of your test attributes";
            return Err((message.into(), second.span()));
        }
        if !kind.is_test && self.has_arguments && is_word(&self.name, "main") {
            let message = "the main function cannot accept arguments";
            return Err((message.into(), self.name.span()));
        }
        if !self.was_async {
            let message = "the `async` keyword is missing from the function declaration";
            return Err((message.into(), self.fn_span));
        }
        Ok(())
    }

    /// The function without `async`, with a runtime around the body.
    pub(crate) fn rewrite(self, settings: &Settings, kind: &Kind) -> TokenStream {
        let (inner_attributes, statements) = inner_attributes(self.body.stream());
        let mut block = Group::new(Delimiter::Brace, statements);
        block.set_span(self.body.span());

        let mut body = source("let body = async");
        body.extend([TokenTree::Group(block), semicolon()]);
        let output = match &self.output {
            Some(output) => output.clone(),
            None => source("()"),
        };
        let mut future = source("::core::future::Future<Output =");
        future.extend(output.clone());
        if kind.is_test {
            // One type for all tests: the runtime's code is compiled once.
            body.extend(source("let body: ::core::pin::Pin<&mut dyn"));
            body.extend(future);
            body.extend(source(">> = ::core::pin::pin!(body);"));
        } else if !has_no_name(&output) {
            // So that a wrong type is reported in the body, and not in what follows.
            let mut check = source("let _: &dyn");
            check.extend(future);
            check.extend(source("> = &body;"));
            body.extend(source("if false"));
            body.extend([TokenTree::Group(Group::new(Delimiter::Brace, check))]);
        }
        body.extend(source(
            "#[allow(clippy::expect_used, clippy::diverging_sub_expression, clippy::needless_return, clippy::unwrap_in_result)]",
        ));
        let run = format!("{{ return {}.block_on(body); }}", settings.runtime(kind));
        body.extend(source(&run));
        let mut wrapped = Group::new(Delimiter::Brace, body);
        wrapped.set_span(self.body.span());

        let mut result: TokenStream = self.attributes.into_iter().collect();
        result.extend(inner_attributes);
        if kind.is_test {
            // Last, so that attributes that come later know of it.
            result.extend(source("#[::core::prelude::v1::test]"));
        }
        result.extend(self.signature);
        result.extend([TokenTree::Group(wrapped)]);
        result
    }
}

fn source(text: &str) -> TokenStream {
    text.parse().expect("tokens")
}

fn semicolon() -> TokenTree {
    TokenTree::Punct(proc_macro::Punct::new(';', proc_macro::Spacing::Alone))
}

/// Where the arguments are: behind the generics, whose bounds may have brackets, too.
fn arguments(tokens: &[TokenTree], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in from..tokens.len() {
        let token = &tokens[at];
        if is_sign(token, '<') {
            depth += 1;
        } else if is_sign(token, '>') && !is_sign(&tokens[at - 1], '-') {
            depth = depth.saturating_sub(1);
        } else if depth == 0
            && matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
        {
            return Some(at);
        }
    }
    None
}

/// The type behind the arrow.
fn output(after_arguments: &[TokenTree]) -> Option<TokenStream> {
    let [dash, arrow, rest @ ..] = after_arguments else {
        return None;
    };
    if !is_sign(dash, '-') || !is_sign(arrow, '>') {
        return None;
    }
    let end = rest.iter().position(|token| is_word(token, "where"));
    Some(rest[..end.unwrap_or(rest.len())].iter().cloned().collect())
}

/// A type that cannot be written where it would have to be: `!`, and `impl Trait`.
fn has_no_name(output: &TokenStream) -> bool {
    let is_unnamed = |token: &TokenTree| is_sign(token, '!') || is_word(token, "impl");
    output.clone().into_iter().any(|token| match &token {
        TokenTree::Group(group) => has_no_name(&group.stream()),
        _ => is_unnamed(&token),
    })
}

/// Attributes at the beginning of the body, which are the function's: made outer ones, and what is left.
fn inner_attributes(body: TokenStream) -> (TokenStream, TokenStream) {
    let mut tokens = body.into_iter().collect::<Vec<_>>();
    let mut outer = TokenStream::new();
    while let [hash, bang, TokenTree::Group(group), ..] = &tokens[..] {
        if !is_sign(hash, '#') || !is_sign(bang, '!') || group.delimiter() != Delimiter::Bracket {
            break;
        }
        outer.extend([hash.clone(), TokenTree::Group(group.clone())]);
        tokens.drain(..3);
    }
    (outer, tokens.into_iter().collect())
}

/// `[test]`, or the same with the path of a prelude.
fn is_test_attribute(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    let text = group.stream().to_string().replace(char::is_whitespace, "");
    let path: Vec<&str> = text
        .strip_prefix("::")
        .unwrap_or(&text)
        .split("::")
        .collect();
    matches!(path[..], ["test"] | ["core" | "std", "prelude", _, "test"])
}
