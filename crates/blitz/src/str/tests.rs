//! Strings against the standard library, with characters of every length, and split to every depth.

use super::chars::{
    BytesView, CharIndicesView, CharsView, EncodeUtf16View, MatchIndicesView, MatchesView, Stretch,
    View,
};
use super::middle;
use super::split::{AsciiWords, UnicodeWords};
use crate::ThreadPoolBuilder;
use crate::prelude::*;
use crate::slice::pieces::{Cutter, Pieces, WithSeparator, WithoutSeparator};
use crate::slice::tests::for_every_depth;
use std::collections::HashSet;
use std::fmt::Debug;
use std::thread::ThreadId;
use std::time::Duration;

/// All strings over an alphabet up to a length: every arrangement of separators, spaces and long characters there is.
fn every_text(alphabet: &[char], longest: usize) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut last = 0;
    for _ in 0..longest {
        let end = texts.len();
        for index in last..end {
            texts.extend(
                alphabet
                    .iter()
                    .map(|&c| format!("{}{c}", texts[index]))
                    .collect::<Vec<_>>(),
            );
        }
        last = end;
    }
    texts
}

/// A long text with lines, words, empty lines and characters of every length.
fn long_text(len: usize) -> String {
    let words = [
        "", "a", "ß", "€uro", "😀", "\u{2003}", "word", ",", "\r", "\n", "\r\n", ", ", "\t", "\n\n",
    ];
    let mut state = 1u32;
    let mut text = String::new();
    while text.len() < len {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(words[(state >> 24) as usize % words.len()]);
        if state.is_multiple_of(3) {
            text.push(' ');
        }
    }
    text
}

fn check_view<'t, V: View<'t>>(text: &'t str, view: V, expected: impl Iterator<Item = V::Item>)
where
    V::Item: PartialEq + Debug,
{
    let expected: Vec<V::Item> = expected.collect();
    for_every_depth(
        || Stretch::whole(text, view),
        |items| assert_eq!(items, expected, "{text:?}"),
    );
}

fn check_pieces<'t, C: Cutter<&'t str>>(
    text: &'t str,
    cutter: C,
    expected: impl Iterator<Item = &'t str>,
) {
    let expected: Vec<&str> = expected.collect();
    for_every_depth(
        || Pieces::new(text, cutter),
        |pieces| assert_eq!(pieces, expected, "{text:?}"),
    );
}

#[test]
fn the_middle_is_a_boundary_inside_the_text_if_there_is_one() {
    for text in every_text(&['a', 'ß', '€', '😀'], 5) {
        let middle = middle(&text);
        assert!(text.is_char_boundary(middle));
        assert_eq!(
            middle > 0 && middle < text.len(),
            text.chars().count() > 1,
            "{text:?}"
        );
    }
}

#[test]
fn characters_split_to_any_depth_are_those_of_std() {
    for text in every_text(&['a', 'ß', '€', '😀'], 5) {
        check_view(&text, CharsView, text.chars());
        check_view(&text, CharIndicesView, text.char_indices());
        check_view(&text, BytesView, text.bytes());
        check_view(&text, EncodeUtf16View, text.encode_utf16());
        check_view(&text, MatchesView(&'ß'), text.matches('ß'));
        check_view(
            &text,
            MatchIndicesView(&['ß', '😀']),
            text.match_indices(['ß', '😀']),
        );
    }
}

#[test]
fn pieces_split_to_any_depth_are_those_of_std() {
    for text in every_text(&['a', ',', '€', '😀'], 5) {
        check_pieces(&text, WithoutSeparator(&','), text.split(','));
        check_pieces(&text, WithoutSeparator(&['€', ',']), text.split(['€', ',']));
        check_pieces(&text, WithSeparator(&'😀'), text.split_inclusive('😀'));
        check_pieces(
            &text,
            WithSeparator(&char::is_alphabetic),
            text.split_inclusive(char::is_alphabetic),
        );
    }
    for text in every_text(&['a', ' ', '\u{2003}', '€'], 5) {
        check_pieces(&text, UnicodeWords, text.split_whitespace());
        check_pieces(&text, AsciiWords, text.split_ascii_whitespace());
    }
}

/// Compares every method of the trait with its sequential namesake.
fn check_methods(text: &str) {
    macro_rules! same {
        ($parallel:expr, $sequential:expr) => {
            assert_eq!(
                $parallel.collect::<Vec<_>>(),
                $sequential.collect::<Vec<_>>(),
                "{text:?}"
            )
        };
    }
    same!(text.par_chars(), text.chars());
    same!(text.par_char_indices(), text.char_indices());
    same!(text.par_bytes(), text.bytes());
    same!(text.par_encode_utf16(), text.encode_utf16());
    same!(text.par_lines(), text.lines());
    same!(text.par_split_whitespace(), text.split_whitespace());
    same!(
        text.par_split_ascii_whitespace(),
        text.split_ascii_whitespace()
    );

    macro_rules! same_with_pattern {
        ($pattern:expr) => {
            same!(text.par_split($pattern), text.split($pattern));
            same!(
                text.par_split_inclusive($pattern),
                text.split_inclusive($pattern)
            );
            same!(
                text.par_split_terminator($pattern),
                text.split_terminator($pattern)
            );
            same!(text.par_matches($pattern), text.matches($pattern));
            same!(
                text.par_match_indices($pattern),
                text.match_indices($pattern)
            );
        };
    }
    let letters = ['ß', '\n'];
    same_with_pattern!(',');
    same_with_pattern!('😀');
    same_with_pattern!(&letters[..]);
    same_with_pattern!(letters);
    same_with_pattern!(&letters);
    same_with_pattern!(char::is_whitespace);
    same_with_pattern!(|c: char| c > '\u{7f}');
}

#[test]
fn all_methods_agree_with_std_on_all_short_texts() {
    for text in every_text(&['a', ',', '\r', '\n', '😀'], 5) {
        check_methods(&text);
    }
}

#[test]
fn all_methods_agree_with_std_on_long_texts() {
    for len in [100, 1000, 50_000] {
        check_methods(&long_text(len));
    }
    check_methods(&"no separator at all ".replace(' ', "_").repeat(500));
    check_methods(&"\n".repeat(1000));
}

#[test]
fn a_bare_carriage_return_at_the_end_belongs_to_the_line() {
    let lines: Vec<&str> = "one\r\ntwo\r".par_lines().collect();
    assert_eq!(lines, ["one", "two\r"]);
}

#[test]
fn characters_that_were_cheap_in_all_runs_before_are_shared_out_once_they_are_dear() {
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let threads_of = |text: &str, pause: Duration| -> HashSet<ThreadId> {
        let identify = |_| {
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
            std::thread::current().id()
        };
        pool.install(|| text.par_chars().map(identify).collect())
    };
    for _ in 0..100 {
        assert!(!threads_of("tiny", Duration::ZERO).is_empty());
    }
    let text = "x".repeat(400);
    assert!(threads_of(&text, Duration::from_micros(200)).len() > 1);
}
