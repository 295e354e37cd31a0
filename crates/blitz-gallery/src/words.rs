//! The command line of this package's program, which `blitz profile` and `blitz trace` read as well.

use crate::{EXAMPLES, Example, named};
use lexopt::prelude::*;
use std::path::PathBuf;

/// What to do with an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Measure its work and span.
    Profile,
    /// Record what the threads do.
    Trace,
    /// Run it on pools of several sizes, for the simulator to compare with.
    Measure,
}

impl Tool {
    /// All of them.
    pub const ALL: [Tool; 3] = [Tool::Profile, Tool::Trace, Tool::Measure];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Profile => "profile",
            Tool::Trace => "trace",
            Tool::Measure => "measure",
        }
    }
}

/// Which example, and where the files go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What to do with it.
    pub tool: Tool,
    /// The example.
    pub example: &'static Example,
    /// A directory, if not the usual one.
    pub out: Option<PathBuf>,
}

impl Wish {
    /// Reads the words behind the tool's name: `EXAMPLE [--out DIR]`.
    pub fn read(tool: Tool, words: &[String]) -> Result<Self, lexopt::Error> {
        let (mut example, mut out) = (None, None);
        let mut parser = lexopt::Parser::from_args(words);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("out") => out = Some(parser.value()?.into()),
                Value(word) if example.is_none() => example = Some(named(&word.string()?)?),
                other => return Err(other.unexpected()),
            }
        }
        let Some(example) = example else {
            let names: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
            return Err(format!("which example? There are {}", names.join(", ")).into());
        };
        Ok(Wish { tool, example, out })
    }
}
