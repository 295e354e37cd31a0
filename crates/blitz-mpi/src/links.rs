//! The way into MPI: communicators, datatypes, single calls.
//!
//! Everything here is called with the lock on [`Core`](crate::core::Core) held, so that one thread is in MPI at a time: MPI is asked for
//! no more than `MPI_THREAD_SERIALIZED`. No call waits for another rank, but for those that make and free the communicators.

use crate::error::{Error, Result, check};
use crate::portable::{Number, Op};
use crate::stats::Stats;
use mpi::ffi::{self, MPI_Comm, MPI_Datatype, MPI_Message, MPI_Op, MPI_Request, MPI_Status};
use std::any::Any;
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::raw::{c_int, c_void};
use std::ptr;
use std::task::Waker;

/// Three communicators, so that messages of users, those of agreements, and the data of collectives never match each other.
pub(crate) struct Links {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// Messages of `send` and `recv`.
    pub(crate) letters: MPI_Comm,
    /// Agreements about collective calls.
    pub(crate) frames: MPI_Comm,
    /// The data of collective calls.
    pub(crate) blocks: MPI_Comm,
    types: HashMap<usize, MPI_Datatype>,
    /// By the codes of operator and type.
    operators: HashMap<(u8, u8), MPI_Op>,
    pub(crate) stats: Stats,
    /// To be called when MPI has been left.
    pub(crate) wakes: Vec<Waker>,
    /// To be dropped when MPI has been left: their destructors may want to enter it.
    pub(crate) drops: Vec<Box<dyn Any + Send>>,
}

// SAFETY: handles of MPI belong to the process, not to a thread; whoever uses them holds the lock.
unsafe impl Send for Links {}

/// The start of a message that has come and has not been received.
pub(crate) struct Probed {
    pub(crate) source: usize,
    pub(crate) tag: c_int,
    pub(crate) bytes: usize,
    pub(crate) message: MPI_Message,
}

impl Links {
    /// MPI is initialised, and every rank calls this.
    pub(crate) fn open() -> Result<Links> {
        let (mut rank, mut size) = (0, 0);
        let mut communicators = [null_comm(); 3];
        // SAFETY: MPI is initialised, and the world is there; the pointers are to locals.
        unsafe {
            let world = ffi::RSMPI_COMM_WORLD;
            check(ffi::MPI_Comm_rank(world, &mut rank))?;
            check(ffi::MPI_Comm_size(world, &mut size))?;
            for communicator in &mut communicators {
                check(ffi::MPI_Comm_dup(world, communicator))?;
                check(ffi::MPI_Comm_set_errhandler(
                    *communicator,
                    ffi::RSMPI_ERRORS_RETURN,
                ))?;
            }
        }
        let [letters, frames, blocks] = communicators;
        Ok(Links {
            rank: rank as usize,
            size: size as usize,
            letters,
            frames,
            blocks,
            types: HashMap::new(),
            operators: HashMap::new(),
            stats: Stats::default(),
            wakes: Vec::new(),
            drops: Vec::new(),
        })
    }

    /// Every rank calls this, and nothing is under way.
    pub(crate) fn close(&mut self) {
        for mut datatype in std::mem::take(&mut self.types).into_values() {
            // SAFETY: made by `datatype`, and no operation uses it any more.
            unsafe { ffi::MPI_Type_free(&mut datatype) };
        }
        for mut operator in std::mem::take(&mut self.operators).into_values() {
            // SAFETY: made by `operator`, and no operation uses it any more.
            unsafe { ffi::MPI_Op_free(&mut operator) };
        }
        for communicator in [&mut self.letters, &mut self.frames, &mut self.blocks] {
            // SAFETY: made by `open`, and no operation uses it any more.
            unsafe { ffi::MPI_Comm_free(communicator) };
        }
    }

    /// The largest tag that this MPI has.
    pub(crate) fn tag_limit(&self) -> c_int {
        let mut value: *mut c_int = ptr::null_mut();
        let mut found = 0;
        // SAFETY: MPI sets the pointer to an integer of its own that stays.
        unsafe {
            let code = ffi::MPI_Comm_get_attr(
                self.letters,
                ffi::MPI_TAG_UB as c_int,
                (&raw mut value).cast::<c_void>(),
                &mut found,
            );
            if check(code).is_ok() && found != 0 && !value.is_null() {
                *value
            } else {
                32_767
            }
        }
    }

    /// `size` bytes as one element, so that MPI counts elements.
    pub(crate) fn datatype(&mut self, size: usize) -> Result<MPI_Datatype> {
        // SAFETY: a constant of the MPI library.
        let byte = unsafe { ffi::RSMPI_UINT8_T };
        if size == 1 {
            return Ok(byte);
        }
        if let Some(&known) = self.types.get(&size) {
            return Ok(known);
        }
        let bytes = count(size)?;
        let mut made = byte;
        // SAFETY: the pointer is to a local.
        unsafe {
            check(ffi::MPI_Type_contiguous(bytes, byte, &mut made))?;
            check(ffi::MPI_Type_commit(&mut made))?;
        }
        self.types.insert(size, made);
        Ok(made)
    }

    /// An operator that computes as short reductions do: MPI's own differ from that, and from each other (sums of short integers that do not wrap, minima
    /// of what is no number).
    pub(crate) fn operator<T: Number>(&mut self, op: Op) -> Result<MPI_Op> {
        let key = (op.code(), T::CODE);
        if let Some(&known) = self.operators.get(&key) {
            return Ok(known);
        }
        let function = match op {
            Op::Sum => combine::<T, 1>,
            Op::Product => combine::<T, 2>,
            Op::Min => combine::<T, 3>,
            Op::Max => combine::<T, 4>,
        };
        // SAFETY: a constant of the MPI library.
        let mut made = unsafe { ffi::RSMPI_SUM };
        // SAFETY: the function does what MPI asks of one; the pointer is to a local.
        check(unsafe { ffi::MPI_Op_create(Some(function), 1, &mut made) })?;
        self.operators.insert(key, made);
        Ok(made)
    }

    /// Starts to send `length` elements of `size` bytes.
    ///
    /// # Safety
    /// The memory stays, and is not written to, until the request is done.
    pub(crate) unsafe fn send(
        &mut self,
        data: *const u8,
        length: usize,
        size: usize,
        to: usize,
        tag: c_int,
        communicator: MPI_Comm,
    ) -> Result<MPI_Request> {
        let (length, datatype) = (count(length)?, self.datatype(size)?);
        let mut request = null_request();
        // SAFETY: the caller's promise; the rank is one of the communicator's.
        check(unsafe {
            ffi::MPI_Isend(
                data.cast(),
                length,
                datatype,
                to as c_int,
                tag,
                communicator,
                &mut request,
            )
        })?;
        Ok(request)
    }

    /// Starts to receive what [`probe`](Self::probe) has found.
    ///
    /// # Safety
    /// There is room for `length` elements of `size` bytes, which stays, and which nobody touches, until the request is done.
    pub(crate) unsafe fn receive(
        &mut self,
        mut message: MPI_Message,
        data: *mut u8,
        length: usize,
        size: usize,
    ) -> Result<MPI_Request> {
        let (length, datatype) = (count(length)?, self.datatype(size)?);
        let mut request = null_request();
        // SAFETY: the caller's promise.
        check(unsafe {
            ffi::MPI_Imrecv(data.cast(), length, datatype, &mut message, &mut request)
        })?;
        Ok(request)
    }

    /// A message that has come, from anybody, with this tag (`None`: any). It is the caller's from now on.
    pub(crate) fn probe(
        &mut self,
        tag: Option<c_int>,
        communicator: MPI_Comm,
    ) -> Result<Option<Probed>> {
        let mut found = 0;
        let mut status = MaybeUninit::<MPI_Status>::zeroed();
        // SAFETY: constants of the MPI library; the pointers are to locals, and a found message has a status.
        unsafe {
            let mut message = ffi::RSMPI_MESSAGE_NULL;
            let tag = tag.unwrap_or(ffi::RSMPI_ANY_TAG);
            check(ffi::MPI_Improbe(
                ffi::RSMPI_ANY_SOURCE,
                tag,
                communicator,
                &mut found,
                &mut message,
                status.as_mut_ptr(),
            ))?;
            if found == 0 {
                return Ok(None);
            }
            let status = status.assume_init();
            let mut bytes = 0;
            check(ffi::MPI_Get_elements_x(
                &status,
                ffi::RSMPI_UINT8_T,
                &mut bytes,
            ))?;
            Ok(Some(Probed {
                source: status.MPI_SOURCE as usize,
                tag: status.MPI_TAG,
                bytes: bytes as usize,
                message,
            }))
        }
    }

    pub(crate) fn check_rank(&self, rank: usize) -> Result<()> {
        if rank < self.size {
            Ok(())
        } else {
            Err(Error::NoSuchRank {
                rank,
                size: self.size,
            })
        }
    }
}

/// What MPI calls to combine `count` numbers: `right` becomes `left` and `right`. `OP` is an operator's code.
///
/// # Safety
/// There are as many numbers, at least one, at both places.
unsafe extern "C" fn combine<T: Number, const OP: u8>(
    left: *mut c_void,
    right: *mut c_void,
    count: *mut c_int,
    _: *mut MPI_Datatype,
) {
    let op = const { Op::with_code(OP) };
    // SAFETY: the caller's promise. MPI aligns numbers as their type says.
    let (left, right) = unsafe {
        let count = *count as usize;
        (
            std::slice::from_raw_parts(left.cast::<T>(), count),
            std::slice::from_raw_parts_mut(right.cast::<T>(), count),
        )
    };
    for (right, &left) in right.iter_mut().zip(left) {
        *right = T::combine(op, left, *right);
    }
}

/// Requests that are waited for together.
#[derive(Default)]
pub(crate) struct Batch {
    requests: Vec<MPI_Request>,
}

// SAFETY: as for `Links`.
unsafe impl Send for Batch {}

impl Batch {
    pub(crate) fn push(&mut self, request: MPI_Request) {
        self.requests.push(request);
    }

    /// Whether all of them are done. After an error, some may go on for ever: what they use must stay.
    pub(crate) fn test(&mut self) -> Result<bool> {
        if self.requests.is_empty() {
            return Ok(true);
        }
        let mut done = 0;
        // SAFETY: as many requests as said, started by this rank.
        check(unsafe {
            ffi::MPI_Testall(
                self.requests.len() as c_int,
                self.requests.as_mut_ptr(),
                &mut done,
                ffi::RSMPI_STATUSES_IGNORE,
            )
        })?;
        if done != 0 {
            self.requests.clear();
        }
        Ok(done != 0)
    }
}

/// A number of elements as MPI counts them.
pub(crate) fn count(length: usize) -> Result<c_int> {
    c_int::try_from(length).map_err(|_| Error::TooLong(length))
}

pub(crate) fn null_request() -> MPI_Request {
    // SAFETY: a constant of the MPI library.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

fn null_comm() -> MPI_Comm {
    // SAFETY: a constant of the MPI library.
    unsafe { ffi::RSMPI_COMM_NULL }
}
