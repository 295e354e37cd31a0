//! Owned values that fit in one machine word.
//!
//! The queues of the engine keep their items in atomic words. A thief may read a slot that the
//! owner is about to overwrite; with an atomic slot such a read returns some old or new word and
//! nothing worse, and the thief throws it away unless it then wins the item. With a slot of plain
//! memory the very read would be a data race, whatever happens to the value afterwards.

use std::ptr::{self, NonNull};
use std::sync::Arc;

/// A value that can be turned into one word and back.
///
/// The word *is* the value: whoever holds it owns what it stands for. Converting there and back
/// once is a move; converting one word back twice would be a copy of something that may not be
/// copied, which is why [`from_word`](Word::from_word) is unsafe.
///
/// ```
/// use blitz_primitives::Word;
///
/// let word = Box::new(7).into_word();
/// // SAFETY: the word comes from `into_word` of the same type and is used once.
/// let back = unsafe { Box::<i32>::from_word(word) };
/// assert_eq!(*back, 7);
/// ```
///
/// # Safety
///
/// `from_word(into_word(x))` must be `x`, on any thread that could receive `x` by a move.
pub unsafe trait Word: Sized {
    /// Gives up the value and returns the word that stands for it.
    fn into_word(self) -> usize;

    /// Takes the value back.
    ///
    /// # Safety
    ///
    /// `word` comes from [`into_word`](Word::into_word) of the same type, and each word is
    /// converted back at most once.
    unsafe fn from_word(word: usize) -> Self;
}

// SAFETY: the value is its own word.
unsafe impl Word for usize {
    #[inline(always)]
    fn into_word(self) -> usize {
        self
    }

    #[inline(always)]
    unsafe fn from_word(word: usize) -> Self {
        word
    }
}

// SAFETY: exposing an address and restoring a pointer from it gives a pointer to the same object.
unsafe impl<T> Word for *mut T {
    #[inline(always)]
    fn into_word(self) -> usize {
        self.expose_provenance()
    }

    #[inline(always)]
    unsafe fn from_word(word: usize) -> Self {
        ptr::with_exposed_provenance_mut(word)
    }
}

// SAFETY: as for `*mut T`.
unsafe impl<T> Word for *const T {
    #[inline(always)]
    fn into_word(self) -> usize {
        self.expose_provenance()
    }

    #[inline(always)]
    unsafe fn from_word(word: usize) -> Self {
        ptr::with_exposed_provenance(word)
    }
}

// SAFETY: as for `*mut T`; the word of a non-null pointer is not zero.
unsafe impl<T> Word for NonNull<T> {
    #[inline(always)]
    fn into_word(self) -> usize {
        self.as_ptr().into_word()
    }

    #[inline(always)]
    unsafe fn from_word(word: usize) -> Self {
        // SAFETY: by the caller's promise the word came from a `NonNull`.
        unsafe { NonNull::new_unchecked(<*mut T>::from_word(word)) }
    }
}

// SAFETY: `into_raw` and `from_raw` are the box's own way there and back.
unsafe impl<T> Word for Box<T> {
    #[inline(always)]
    fn into_word(self) -> usize {
        Box::into_raw(self).into_word()
    }

    #[inline(always)]
    unsafe fn from_word(word: usize) -> Self {
        // SAFETY: by the caller's promise the word came from `Box::into_raw` and is used once.
        unsafe { Box::from_raw(<*mut T>::from_word(word)) }
    }
}

// SAFETY: `into_raw` and `from_raw` carry one reference count there and back.
unsafe impl<T> Word for Arc<T> {
    #[inline(always)]
    fn into_word(self) -> usize {
        Arc::into_raw(self).into_word()
    }

    #[inline(always)]
    unsafe fn from_word(word: usize) -> Self {
        // SAFETY: by the caller's promise the word came from `Arc::into_raw` and is used once.
        unsafe { Arc::from_raw(<*const T>::from_word(word)) }
    }
}

// SAFETY: a reference is a pointer, and the `'static` target outlives every queue.
unsafe impl<T> Word for &'static T {
    #[inline(always)]
    fn into_word(self) -> usize {
        ptr::from_ref(self).into_word()
    }

    #[inline(always)]
    unsafe fn from_word(word: usize) -> Self {
        // SAFETY: by the caller's promise the word came from a `&'static T`.
        unsafe { &*<*const T>::from_word(word) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// There and back once, which is what a queue does.
    fn round_trip<T: Word>(value: T) -> T {
        // SAFETY: the word is fresh and used once.
        unsafe { T::from_word(value.into_word()) }
    }

    #[test]
    fn plain_words_survive_the_round_trip() {
        assert_eq!(round_trip(0_usize), 0);
        assert_eq!(round_trip(usize::MAX), usize::MAX);
    }

    #[test]
    fn pointers_still_reach_their_target() {
        static TARGET: u32 = 11;
        assert_eq!(*round_trip(&TARGET), 11);
        let mut local = 5_u8;
        let pointer = round_trip(NonNull::from(&mut local));
        // SAFETY: `local` is alive and not otherwise borrowed.
        unsafe { *pointer.as_ptr() += 1 };
        assert_eq!(local, 6);
    }

    #[test]
    fn a_box_keeps_its_content() {
        assert_eq!(*round_trip(Box::new("owned".to_string())), "owned");
    }

    #[test]
    fn an_arc_keeps_its_count() {
        let arc = Arc::new(());
        let other = round_trip(arc.clone());
        assert_eq!(Arc::strong_count(&arc), 2);
        drop(other);
        assert_eq!(Arc::strong_count(&arc), 1);
    }
}
