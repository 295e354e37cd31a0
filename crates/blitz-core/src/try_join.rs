//! `join` for closures that can fail.

use crate::join::join;

/// Runs two fallible closures, perhaps in parallel. Both run to their end; if both fail, the left error is
/// returned.
///
/// ```
/// let ok: Result<(i32, i32), String> = blitz_core::try_join(|| Ok(1), || Ok(2));
/// assert_eq!(ok, Ok((1, 2)));
/// let failed: Result<((), ()), _> = blitz_core::try_join(|| Err("left"), || Err("right"));
/// assert_eq!(failed, Err("left"));
/// ```
#[inline]
#[cfg_attr(feature = "sites", track_caller)]
pub fn try_join<A, B, RA, RB, E>(oper_a: A, oper_b: B) -> Result<(RA, RB), E>
where
    A: FnOnce() -> Result<RA, E> + Send,
    B: FnOnce() -> Result<RB, E> + Send,
    RA: Send,
    RB: Send,
    E: Send,
{
    let (a, b) = join(oper_a, oper_b);
    Ok((a?, b?))
}
