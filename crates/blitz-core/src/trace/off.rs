//! The hooks of the tracer without the feature: empty types and empty functions, of which nothing remains.

/// What happens on a thread; see the tracer.
pub(crate) enum Kind {
    Run,
    Steal,
    Search,
    Sleep,
    Wait,
    Wake,
    Expose,
    Force,
    Guest,
}

/// Something that takes a while.
pub(crate) struct Span;

impl Span {
    #[inline(always)]
    pub(crate) fn end(self) {}
}

#[inline(always)]
pub(crate) fn span(_kind: Kind, _about: usize) -> Span {
    Span
}

#[inline(always)]
pub(crate) fn instant(_kind: Kind, _about: usize) {}
