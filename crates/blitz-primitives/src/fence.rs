//! Asymmetric fences: the frequent side pays nothing, the rare side pays for both.
//!
//! The join stack has one store-then-load race (a Dekker pair) between the owner's `pop`, which
//! happens every few nanoseconds, and a thief's *forced exposure*, which happens a few times a
//! second. [`light`] stands in `pop`, [`heavy`] in the forced exposure, and together they give what
//! two `fence(SeqCst)` would give: **of a light and a heavy fence, one sees the stores that come
//! before the other.** Two light fences give nothing.
//!
//! | mode | `light` | `heavy` |
//! |---|---|---|
//! | [`Mode::Symmetric`] | `fence(SeqCst)` | `fence(SeqCst)` |
//! | [`Mode::Membarrier`] | compiler fence | `membarrier(PRIVATE_EXPEDITED)`; on Windows `FlushProcessWriteBuffers` |
//!
//! Why that is enough: the kernel interrupts every CPU that runs a thread of this process and
//! executes a full fence there before the call returns. If the interrupt lands before the owner's
//! store, the owner's later load sees everything the thief stored before the call. If it lands after
//! the store, the store is visible before the call returns. It cannot land *between* in any other
//! sense, because the compiler fence keeps the two accesses in program order. A thread that is not
//! running has passed a full fence in the context switch.
//!
//! The C++/Rust memory model has no word for this, so loom checks the symmetric mode (which allows
//! no more behaviours than the argument above uses), and the tests and the stress binary run in either
//! mode (see below).
//!
//! The mode is chosen once per process: membarrier where the kernel registers us for it and on Windows, symmetric elsewhere. Also
//! under Wine, whose `FlushProcessWriteBuffers` does nothing in many of its versions, without a word. `BLITZ_FENCE=symmetric` or `BLITZ_FENCE=membarrier` in the environment overrides it.

#[cfg(not(loom))]
use crate::sync::{Ordering, fence};

/// How the two fences are implemented in this process.
///
/// ```
/// use blitz_primitives::fence::{Mode, light_is_free, mode};
///
/// assert_eq!(mode() == Mode::Membarrier, light_is_free());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Both sides execute a full hardware fence.
    Symmetric,
    /// The frequent side executes no instruction; the rare side makes the kernel do it for all: `membarrier`, on Windows `FlushProcessWriteBuffers`.
    Membarrier,
}

#[cfg(not(loom))]
mod imp {
    use super::Mode;
    use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

    /// Whether `light` must be a real fence. Starts `true`, which is always correct, and is cleared
    /// only after the kernel has accepted our membarrier registration *and* no symmetric heavy fence
    /// can run any more (`heavy` looks at the same flag through `mode`).
    pub(super) static LIGHT_IS_FULL: AtomicBool = AtomicBool::new(true);
    static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 0;
    const SYMMETRIC: u8 = 1;
    const MEMBARRIER: u8 = 2;

    /// Chooses the mode; called before the first pool starts its threads.
    ///
    /// Not a `OnceLock`: a fork in the middle of it would leave the child waiting for its parent's thread. Several may choose at the same time; the first choice counts.
    #[inline]
    pub(super) fn mode() -> Mode {
        let mode = match MODE.load(Ordering::Acquire) {
            UNKNOWN => choose(),
            mode => mode,
        };
        match mode {
            MEMBARRIER => Mode::Membarrier,
            _ => Mode::Symmetric,
        }
    }

    #[cold]
    fn choose() -> u8 {
        let wanted = std::env::var("BLITZ_FENCE");
        let choice = match wanted.as_deref() {
            Ok("symmetric") => SYMMETRIC,
            _ if register() => MEMBARRIER,
            _ => SYMMETRIC,
        };
        match MODE.compare_exchange(UNKNOWN, choice, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => {
                LIGHT_IS_FULL.store(choice == SYMMETRIC, Ordering::SeqCst);
                choice
            }
            Err(first) => first,
        }
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    fn membarrier(command: libc::c_int) -> libc::c_long {
        // SAFETY: membarrier takes three integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    fn register() -> bool {
        const REGISTER: libc::c_int = libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
        const EXPEDITED: libc::c_int = libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED;
        let supported = membarrier(libc::MEMBARRIER_CMD_QUERY);
        let needed = libc::c_long::from(REGISTER | EXPEDITED);
        supported >= 0 && supported & needed == needed && membarrier(REGISTER) == 0
    }

    #[cfg(all(windows, not(miri)))]
    fn register() -> bool {
        use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};

        // SAFETY: two strings that end with a zero. The library is a part of every process, and stays.
        let is_wine = unsafe {
            let system = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
            GetProcAddress(system, c"wine_get_version".as_ptr().cast()).is_some()
        };
        !is_wine
    }

    #[cfg(any(miri, not(any(target_os = "linux", windows))))]
    fn register() -> bool {
        false
    }

    /// The kernel has refused a heavy fence, and will again.
    pub(super) static REFUSED: AtomicBool = AtomicBool::new(false);

    /// `false`: the kernel refuses. Registration succeeded, so the process has been sandboxed since.
    pub(super) fn heavy_membarrier() -> bool {
        #[cfg(all(target_os = "linux", not(miri)))]
        let done = membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
        #[cfg(all(windows, not(miri)))]
        let done = {
            // SAFETY: takes nothing, and does not fail.
            unsafe { windows_sys::Win32::System::Threading::FlushProcessWriteBuffers() };
            true
        };
        #[cfg(any(miri, not(any(target_os = "linux", windows))))]
        let done = true;
        if !done {
            REFUSED.store(true, Ordering::Relaxed);
        }
        done
    }
}

/// The mode this process uses. Decides it on the first call.
///
/// ```
/// println!("fences: {:?}", blitz_primitives::fence::mode());
/// ```
#[cfg(not(loom))]
#[inline]
pub fn mode() -> Mode {
    imp::mode()
}

/// The owner's side: orders the caller's earlier stores before its later loads, as seen by a thread
/// that executes [`heavy`]. A compiler fence under [`Mode::Membarrier`].
///
/// ```
/// use blitz_primitives::fence;
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
///
/// // Each of two threads says something and then looks what the other one said. With these fences, one of them at least sees it.
/// fence::mode(); // decides what the fences are
/// let (often, seldom) = (AtomicBool::new(false), AtomicBool::new(false));
/// let (a, b) = std::thread::scope(|threads| {
///     let frequent = threads.spawn(|| {
///         often.store(true, Relaxed);
///         fence::light();
///         seldom.load(Relaxed)
///     });
///     seldom.store(true, Relaxed);
///     let is_ordered = fence::heavy();
///     let b = often.load(Relaxed) || !is_ordered;
///     (frequent.join().unwrap(), b)
/// });
/// assert!(a || b);
/// ```
#[cfg(not(loom))]
#[inline(always)]
pub fn light() {
    if !light_is_free() {
        fence(Ordering::SeqCst);
    }
    light_if_free();
}

/// [`light`] for callers who have found out otherwise that [`light_is_free`]. If it is not, this orders
/// nothing.
///
/// ```
/// use blitz_primitives::fence;
/// use std::sync::atomic::{self, AtomicU32, Ordering};
///
/// let (mine, others) = (AtomicU32::new(0), AtomicU32::new(7));
/// if fence::light_is_free() {
///     mine.store(1, Ordering::Relaxed);
///     fence::light_if_free();
/// } else {
///     mine.swap(1, Ordering::SeqCst); // cheaper than a store and a fence on some CPUs
///     atomic::fence(Ordering::SeqCst);
/// }
/// assert_eq!(others.load(Ordering::Relaxed), 7);
/// ```
#[cfg(not(loom))]
#[inline(always)]
pub fn light_if_free() {
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// Does [`light`] execute no instruction? Fixed before the first pool starts.
///
/// ```
/// use blitz_primitives::fence;
///
/// // Decided with the first call of `mode`.
/// let mode = fence::mode();
/// assert_eq!(fence::light_is_free(), mode == fence::Mode::Membarrier);
/// ```
#[cfg(not(loom))]
#[inline(always)]
pub fn light_is_free() -> bool {
    !imp::LIGHT_IS_FULL.load(Ordering::Relaxed)
}

/// The thief's side: orders the caller's earlier stores before its later loads, and makes every
/// [`light`] of every other thread do the same for theirs. Costs microseconds under
/// [`Mode::Membarrier`].
///
/// `false`: it does neither, because the kernel refuses. That can happen in a process that gives up `membarrier` after the first pool has
/// started (seccomp). Light fences execute nothing by then, so the caller has to do without what it wanted to know.
///
/// ```
/// if blitz_primitives::fence::heavy() {
///     // What is loaded here is as new as the last store before a light fence that came first.
/// }
/// ```
#[cfg(not(loom))]
#[must_use = "without the fence nothing is ordered"]
pub fn heavy() -> bool {
    fence(Ordering::SeqCst);
    if mode() == Mode::Membarrier {
        let done = imp::heavy_membarrier();
        fence(Ordering::SeqCst);
        return done;
    }
    true
}

/// Has [`heavy`] failed? Then it always will.
#[cfg(not(loom))]
#[doc(hidden)]
#[inline]
pub fn heavy_is_refused() -> bool {
    imp::REFUSED.load(Ordering::Relaxed)
}

/// See [`model`].
#[cfg(loom)]
#[doc(hidden)]
pub fn heavy_is_refused() -> bool {
    model::is_refused()
}

/// The model checker sees full fences on both sides. Whether the light one passes for free, which
/// decides the path of its callers, is up to the model.
#[cfg(loom)]
#[doc(hidden)]
pub mod model {
    use crate::sync::{AtomicU32, Ordering};
    use std::cell::Cell;

    // Not loom's: constants of the model, and loom runs all threads of a model on one.
    std::thread_local! {
        static LIGHT_IS_FREE: Cell<bool> = const { Cell::new(false) };
        static SWITCHES: Cell<bool> = const { Cell::new(false) };
        static REFUSED: Cell<bool> = const { Cell::new(false) };
    }

    loom::lazy_static! {
        static ref SWITCH: AtomicU32 = AtomicU32::new(0);
    }

    /// From now on this thread's models see free light fences, or not.
    pub fn set_light_is_free(free: bool) {
        LIGHT_IS_FREE.set(free);
    }

    /// From now on loom may switch between threads right before a fence, which it does not do on its own:
    /// its fences belong to the access before them. Needed to see what a store is worth without the
    /// fence after it.
    pub fn set_switches(switches: bool) {
        SWITCHES.set(switches);
    }

    /// From now on the kernel refuses heavy fences, or not.
    pub fn set_refused(refused: bool) {
        REFUSED.set(refused);
    }

    pub(super) fn light_is_free() -> bool {
        LIGHT_IS_FREE.get()
    }

    pub(super) fn is_refused() -> bool {
        REFUSED.get()
    }

    pub(super) fn heavy() -> bool {
        if !is_refused() {
            fence();
        }
        !is_refused()
    }

    pub(super) fn fence() {
        if SWITCHES.get() {
            // All that matters is that all fences touch it. Relaxed: it orders nothing.
            SWITCH.fetch_add(1, Ordering::Relaxed);
        }
        crate::sync::fence(Ordering::SeqCst);
    }
}

/// See [`model`].
#[cfg(loom)]
pub fn light() {
    model::fence();
}

/// See [`model`].
#[cfg(loom)]
pub fn light_if_free() {
    if light_is_free() {
        model::fence();
    }
}

/// See [`model`].
#[cfg(loom)]
pub fn light_is_free() -> bool {
    model::light_is_free()
}

/// See [`model`].
#[cfg(loom)]
#[must_use = "without the fence nothing is ordered"]
pub fn heavy() -> bool {
    model::heavy()
}
