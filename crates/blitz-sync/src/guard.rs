//! What guards have in common: permits that go back when the guard goes, and a pointer to what they give access to.

use super::permits::Permits;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;

/// Something that is made of permits.
pub(super) trait Lock {
    fn permits(&self) -> &Permits;
}

impl Lock for Permits {
    fn permits(&self) -> &Permits {
        self
    }
}

/// Some permits of a lock. Gives them back when it is dropped.
#[derive(Debug)]
pub(super) struct Hold<R: Deref<Target: Lock>> {
    lock: R,
    number: usize,
}

impl<R: Deref<Target: Lock>> Hold<R> {
    /// The caller has taken `number` permits of `lock`.
    #[inline]
    pub(super) fn new(lock: R, number: usize) -> Self {
        Self { lock, number }
    }

    #[inline]
    pub(super) fn lock(&self) -> &R {
        &self.lock
    }

    #[inline]
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The permits do not go back, or not all of them: whoever calls this has another use for the rest.
    #[inline]
    pub(super) fn set_number(&mut self, number: usize) {
        self.number = number;
    }

    /// Gives back all but `number` permits.
    pub(super) fn shrink(&mut self, number: usize) {
        let rest = self.number - number;
        self.number = number;
        self.lock.permits().release(rest);
    }
}

impl<'a, L: Lock + ?Sized> Hold<&'a L> {
    /// Forgets what kind of lock it is.
    #[inline]
    pub(super) fn erase(self) -> Hold<&'a Permits> {
        let this = ManuallyDrop::new(self);
        Hold::new(this.lock.permits(), this.number)
    }
}

impl<R: Deref<Target: Lock>> Drop for Hold<R> {
    #[inline]
    fn drop(&mut self) {
        if self.number != 0 {
            self.lock.permits().release(self.number);
        }
    }
}

/// Whether two holds are of the same lock.
pub(super) fn same_lock<R: Deref<Target: Lock>>(one: &Hold<R>, other: &Hold<R>) -> bool {
    ptr::eq(one.lock.permits(), other.lock.permits())
}

/// A guard: `hold` keeps the lock, `value` points into what it guards. `mut` ones give exclusive access.
macro_rules! guard {
    (@common $(#[$attribute:meta])* [$name:ident $($parameters:tt)*] $value:ident [$($bounds:tt)*] [$($default:tt)*] $hold:ty, $pointee:ty) => {
        $(#[$attribute])*
        #[must_use = "the lock is free again as soon as its guard is dropped"]
        #[clippy::has_significant_drop]
        pub struct $name<$($bounds)* $($default)*> {
            hold: crate::guard::Hold<$hold>,
            /// To what the lock guards, or to a part of it: valid while the lock is held.
            value: std::ptr::NonNull<$value>,
            /// Acts like this reference.
            _value: std::marker::PhantomData<$pointee>,
        }

        impl<$($bounds)*> std::ops::Deref for $name $($parameters)* {
            type Target = $value;

            #[inline]
            fn deref(&self) -> &$value {
                // SAFETY: the lock is held, so nobody has exclusive access but this guard, and it lends it with a borrow of itself.
                unsafe { self.value.as_ref() }
            }
        }

        impl<$($bounds)*> std::fmt::Debug for $name $($parameters)* where $value: std::fmt::Debug {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($bounds)*> std::fmt::Display for $name $($parameters)* where $value: std::fmt::Display {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&**self, f)
            }
        }
    };
    (mut $(#[$attribute:meta])* [$name:ident $($parameters:tt)*] $value:ident [$($bounds:tt)*] $(= $default:ident)? => $hold:ty) => {
        crate::guard::guard!(@common $(#[$attribute])* [$name $($parameters)*] $value [$($bounds)*] [$(= $default)?] $hold, crate::guard::guard!(@pointee mut $value $($bounds)*));

        impl<$($bounds)*> std::ops::DerefMut for $name $($parameters)* {
            #[inline]
            fn deref_mut(&mut self) -> &mut $value {
                // SAFETY: the lock is held exclusively, and the guard is borrowed exclusively.
                unsafe { self.value.as_mut() }
            }
        }
    };
    (ref $(#[$attribute:meta])* [$name:ident $($parameters:tt)*] $value:ident [$($bounds:tt)*] $(= $default:ident)? => $hold:ty) => {
        crate::guard::guard!(@common $(#[$attribute])* [$name $($parameters)*] $value [$($bounds)*] [$(= $default)?] $hold, crate::guard::guard!(@pointee ref $value $($bounds)*));
    };
    (@pointee mut $value:ident $life:lifetime $($rest:tt)*) => { &$life mut $value };
    (@pointee ref $value:ident $life:lifetime $($rest:tt)*) => { &$life $value };
    (@pointee mut $value:ident $($rest:tt)*) => { *mut $value };
    (@pointee ref $value:ident $($rest:tt)*) => { *const $value };
}
pub(super) use guard;

/// `$method` and `$try_method`: a guard of a part of what a guard gives access to. `keep` is done to the hold on the way. The order of the functions'
/// parameters is tokio's, which differs from lock to lock.
macro_rules! projection {
    ([$($guard:tt)*] [$($bounds:tt)*] $reference:tt $method:ident $try_method:ident <$first:ident, $second:ident>, $value:ident => $part:ident, $result:ident [$($to:tt)*], $keep:expr) => {
        impl<$($bounds)*> $($guard)* {
            /// A guard of a part of what this one gives access to. Call it as a function: what is guarded may have a method of this name.
            #[inline]
            pub fn $method<$first, $second>(this: Self, part: F) -> $result $($to)*
            where
                $part: ?Sized,
                F: FnOnce(crate::guard::projection!(@ $reference $value)) -> crate::guard::projection!(@ $reference $part),
            {
                #[allow(unused_mut)]
                let mut this = this;
                let value = std::ptr::NonNull::from(part(crate::guard::projection!(@@ $reference this)));
                let keep = $keep;
                $result { hold: keep(this.hold), value, _value: std::marker::PhantomData }
            }

            /// As the function without `try`, if `part` finds one; the guard comes back if it does not.
            #[inline]
            pub fn $try_method<$first, $second>(this: Self, part: F) -> Result<$result $($to)*, Self>
            where
                $part: ?Sized,
                F: FnOnce(crate::guard::projection!(@ $reference $value)) -> Option<crate::guard::projection!(@ $reference $part)>,
            {
                #[allow(unused_mut)]
                let mut this = this;
                match part(crate::guard::projection!(@@ $reference this)).map(std::ptr::NonNull::from) {
                    Some(value) => {
                        let keep = $keep;
                        Ok($result { hold: keep(this.hold), value, _value: std::marker::PhantomData })
                    }
                    None => Err(this),
                }
            }
        }
    };
    (@ mut $type:ty) => { &mut $type };
    (@ ref $type:ty) => { &$type };
    (@@ mut $guard:ident) => { &mut *$guard };
    (@@ ref $guard:ident) => { &*$guard };
}
pub(super) use projection;
