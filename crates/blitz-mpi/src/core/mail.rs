//! Messages from one rank to another: what is asked for, what has come.
//!
//! A message is received when somebody has asked for it, straight into a vector of its length: `Links::probe` finds it and tells how long it is. One
//! that nobody has asked for is *held*: its sender's data stays where it is if it is long. One whose receiver went away in the middle of receiving is
//! held too, and goes to the next who asks. Messages of one sender with one tag are received in the order in which they were sent.

use super::{Core, Landing};
use crate::cluster::MAX_TAG;
use crate::error::{Error, Result};
use crate::links::Probed;
use crate::slot::Slot;
use mpi::ffi::MPI_Message;
use std::collections::VecDeque;
use std::os::raw::c_int;
use std::sync::Arc;
use std::task::Waker;

/// A message that has come and has no receiver yet.
pub(crate) struct Letter {
    /// In the order in which they came.
    number: u64,
    pub(crate) source: usize,
    /// The sender's tag and the size of its elements; see `wire_tag`.
    wire: c_int,
    bytes: usize,
    contents: Contents,
}

enum Contents {
    /// Still MPI's.
    Message(MPI_Message),
    /// Received for somebody who went away.
    Arrived(Vec<u8>),
    /// Being received, for somebody who went away.
    Coming,
}

/// Somebody who waits for a message.
struct Waiting {
    id: u64,
    /// `None`: anybody.
    from: Option<usize>,
    tag: u16,
    opener: Box<dyn Opener>,
}

trait Opener: Send {
    /// `id` is that of the receiver.
    fn open(self: Box<Self>, core: &mut Core, id: u64, letter: Letter);

    fn refuse(self: Box<Self>, error: Error, wakes: &mut Vec<Waker>);
}

#[derive(Default)]
pub(super) struct Mail {
    waiting: VecDeque<Waiting>,
    held: VecDeque<Letter>,
    /// Letters that are just being received, without their contents, and for whom.
    coming: Vec<(u64, Letter)>,
    /// Receivers of letters that are just being received for somebody who went away.
    heirs: Vec<(Letter, Waiting)>,
    next: u64,
    /// Messages sent to and seen from each rank, for the end.
    sent: Vec<u64>,
    seen: Vec<u64>,
}

/// An element's size as a part of the tag, so that a receiver of another type is told: itself if it is short, otherwise a remainder, which tells most of them apart.
pub(crate) fn wire_tag(tag: u16, size: usize) -> c_int {
    let code = if size < EXACT {
        size
    } else {
        EXACT + size % (256 - EXACT)
    };
    c_int::from(tag) << 8 | code as c_int
}

/// Sizes below this are sent as they are.
const EXACT: usize = 197;

impl Mail {
    pub(super) fn new(size: usize) -> Mail {
        Mail {
            sent: vec![0; size],
            seen: vec![0; size],
            ..Mail::default()
        }
    }

    /// How many wait for a message.
    pub(super) fn awaited(&self) -> usize {
        self.waiting.len()
    }

    /// Whether as many have come from each rank.
    pub(super) fn all_seen(&self, expected: &[u64]) -> bool {
        self.seen == expected
    }
}

impl Core {
    /// Starts to send.
    pub(crate) fn send<T: Copy + Send + 'static, B: Send + 'static>(
        &mut self,
        to: usize,
        tag: u16,
        parcel: Parcel<T, B>,
    ) -> Result<()> {
        let Parcel { sent, data, length } = parcel;
        let size = size_of::<T>();
        let open = self.open().and_then(|()| self.links.check_rank(to));
        let started = open.and_then(|()| {
            let (wire, letters) = (wire_tag(tag, size), self.links.letters);
            // SAFETY: the memory belongs to `sent`.
            unsafe {
                self.links
                    .send(data.cast(), length, size, to, wire, letters)
            }
        });
        let request = match started {
            Ok(request) => request,
            Err(error) => {
                // SAFETY: made by `Parcel::new`, and no request has been started: it is ours.
                let sent = unsafe { Box::from_raw(sent) };
                self.links.drops.push(sent);
                return Err(error);
            }
        };
        self.mail.sent[to] += 1;
        if to != self.links.rank {
            self.links.stats.messages += 1;
            self.links.stats.bytes += (length * size) as u64;
        }
        // SAFETY: started with the memory of `sent`.
        unsafe { self.fly(request, sent, length * size) };
        Ok(())
    }

    /// Asks for a message. The number is for [`forget`](Self::forget).
    pub(crate) fn receive<T: Copy + Send + 'static>(
        &mut self,
        from: Option<usize>,
        tag: u16,
        slot: &Arc<Slot<Received<T>>>,
    ) -> Result<u64> {
        from.map_or(Ok(()), |from| self.links.check_rank(from))?;
        let id = self.mail.next;
        self.mail.next += 1;
        let waiting = Waiting {
            id,
            from,
            tag,
            opener: Box::new(Opening {
                slot: Arc::clone(slot),
            }),
        };
        match self
            .mail
            .held
            .iter()
            .position(|letter| waiting.wants(letter))
        {
            Some(at) => {
                let letter = self.mail.held.remove(at).expect("found there");
                self.hand_over(waiting, letter);
            }
            None => self.mail.waiting.push_back(waiting),
        }
        Ok(id)
    }

    fn hand_over(&mut self, waiting: Waiting, letter: Letter) {
        match letter.contents {
            Contents::Coming => self.mail.heirs.push((letter, waiting)),
            _ => waiting.opener.open(self, waiting.id, letter),
        }
    }

    /// The future is gone. Its message goes to the next who asks.
    pub(crate) fn forget<T: Copy + Send + 'static>(
        &mut self,
        id: u64,
        slot: Arc<Slot<Received<T>>>,
    ) {
        if let Some(Ok(received)) = slot.take() {
            self.give_back(received);
        }
        let mail = &mut self.mail;
        mail.waiting.retain(|waiting| waiting.id != id);
        if let Some(at) = mail.heirs.iter().position(|(_, heir)| heir.id == id) {
            let (letter, _) = mail.heirs.swap_remove(at);
            self.post(letter);
        } else if let Some((_, letter)) = mail.coming.iter().find(|&&(receiver, _)| receiver == id)
        {
            // Its landing will find itself alone with the slot.
            let letter = Letter {
                contents: Contents::Coming,
                ..*letter
            };
            self.post(letter);
        }
    }

    fn give_back<T: Copy>(&mut self, received: Received<T>) {
        let bytes = size_of_val(&received.data[..]);
        let mut copy = Vec::<u8>::with_capacity(bytes);
        // SAFETY: the vector has as many bytes of plain data, which the new one has room for. They came from MPI, so none is uninitialised.
        unsafe {
            copy.as_mut_ptr()
                .copy_from_nonoverlapping(received.data.as_ptr().cast(), bytes);
            copy.set_len(bytes);
        }
        let number = received.number;
        let contents = Contents::Arrived(copy);
        // It may be held already, or have an heir, since before it was here.
        if let Some(at) = self
            .mail
            .heirs
            .iter()
            .position(|(letter, _)| letter.number == number)
        {
            let (letter, heir) = self.mail.heirs.swap_remove(at);
            heir.opener
                .open(self, heir.id, Letter { contents, ..letter });
        } else if let Some(held) = self.mail.held.iter_mut().find(|held| held.number == number) {
            held.contents = contents;
        } else {
            self.post(Letter {
                number,
                source: received.from,
                wire: received.wire,
                bytes,
                contents,
            });
        }
    }

    /// To whoever waits for it, or among those that are held, in order.
    fn post(&mut self, letter: Letter) {
        match self
            .mail
            .waiting
            .iter()
            .position(|waiting| waiting.wants(&letter))
        {
            Some(at) => {
                let waiting = self.mail.waiting.remove(at).expect("found there");
                self.hand_over(waiting, letter);
            }
            None => {
                let at = self
                    .mail
                    .held
                    .partition_point(|held| held.number < letter.number);
                self.mail.held.insert(at, letter);
            }
        }
    }

    pub(super) fn fetch_mail(&mut self) -> bool {
        let mut came = false;
        // An error of the probe is one of the communicator: whoever waits is told.
        loop {
            match self.links.probe(None, self.links.letters) {
                Ok(None) => return came,
                Ok(Some(Probed {
                    source,
                    tag,
                    bytes,
                    message,
                })) => {
                    came = true;
                    self.mail.seen[source] += 1;
                    let number = self.mail.next;
                    self.mail.next += 1;
                    let contents = Contents::Message(message);
                    self.post(Letter {
                        number,
                        source,
                        wire: tag,
                        bytes,
                        contents,
                    });
                }
                Err(error) => {
                    self.refuse_all(&error);
                    return true;
                }
            }
        }
    }

    pub(super) fn refuse_all(&mut self, error: &Error) {
        for waiting in std::mem::take(&mut self.mail.waiting) {
            waiting.opener.refuse(error.clone(), &mut self.links.wakes);
        }
    }

    /// How many messages this rank has sent to each other one.
    pub(crate) fn letters_sent(&self) -> Vec<u64> {
        self.mail.sent.clone()
    }

    /// Takes in what nobody can ask for any more: a long message keeps its sender until somebody does, and that one may not be at the end yet.
    pub(super) fn take_in(&mut self) {
        for at in 0..self.mail.held.len() {
            if let Contents::Message(message) = self.mail.held[at].contents {
                let bytes = self.mail.held[at].bytes;
                self.mail.held[at].contents = Contents::Arrived(Vec::new());
                self.discard(message, bytes);
            }
        }
    }

    /// What users were sent and have never received. (An answer about a loop that has been dropped is nobody's loss.)
    pub(crate) fn unreceived(&self) -> usize {
        let users = |letter: &&Letter| letter.wire >> 8 <= c_int::from(MAX_TAG);
        self.mail.held.iter().filter(users).count()
    }

    /// Receives a message for nobody. An error is one that nobody could be told.
    fn discard(&mut self, message: MPI_Message, bytes: usize) {
        // Counted in blocks where that is needed: MPI's counts are short.
        let size = if bytes > i32::MAX as usize {
            1 << 20
        } else {
            1
        };
        let length = bytes.div_ceil(size);
        let mut data = Vec::<u8>::with_capacity(length * size);
        let pointer = data.as_mut_ptr();
        let trash = Box::into_raw(Box::new(Trash(data)));
        // SAFETY: room for the message, which `trash` owns.
        match unsafe { self.links.receive(message, pointer, length, size) } {
            // SAFETY: as above.
            Ok(request) => unsafe { self.fly(request, trash, bytes) },
            // SAFETY: not started: it is ours.
            Err(_) => drop(unsafe { Box::from_raw(trash) }),
        }
    }
}

impl Waiting {
    fn wants(&self, letter: &Letter) -> bool {
        self.from.is_none_or(|from| from == letter.source)
            && c_int::from(self.tag) == letter.wire >> 8
    }
}

struct Sent<B> {
    data: B,
    slot: Arc<Slot<B>>,
}

impl<B: Send + 'static> Landing for Sent<B> {
    fn landed(self: Box<Self>, core: &mut Core, result: Result<()>) {
        let Sent { data, slot } = *self;
        match result {
            Ok(()) => slot.fill(Ok(data), &mut core.links.wakes),
            Err(error) => {
                slot.fill(Err(error), &mut core.links.wakes);
                core.links.drops.push(Box::new(data));
            }
        }
        // Perhaps nobody else has the slot: then the data goes with it.
        core.links.drops.push(Box::new(slot));
    }
}

/// Something to be sent, with the place of its elements: made before MPI is entered, because `as_ref` may be anybody's code.
pub(crate) struct Parcel<T, B> {
    sent: *mut Sent<B>,
    data: *const T,
    length: usize,
}

impl<T, B: AsRef<[T]>> Parcel<T, B> {
    pub(crate) fn new(data: B, slot: &Arc<Slot<B>>) -> Self {
        let sent = Box::into_raw(Box::new(Sent {
            data,
            slot: Arc::clone(slot),
        }));
        // SAFETY: just made. The slice is as old as this borrow, which ends for good when the request is done: until then nobody
        // touches the box.
        let slice: &[T] = unsafe { (*sent).data.as_ref() };
        Parcel {
            sent,
            data: slice.as_ptr(),
            length: slice.len(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.length * size_of::<T>()
    }
}

/// A message as its receiver gets it.
pub(crate) struct Received<T> {
    number: u64,
    wire: c_int,
    pub(crate) from: usize,
    pub(crate) data: Vec<T>,
}

struct Opening<T> {
    slot: Arc<Slot<Received<T>>>,
}

impl<T: Copy + Send + 'static> Opener for Opening<T> {
    fn open(self: Box<Self>, core: &mut Core, id: u64, letter: Letter) {
        let Letter {
            number,
            source,
            wire,
            bytes,
            contents,
        } = letter;
        let size = size_of::<T>();
        if wire & 0xff != wire_tag(0, size) || bytes % size != 0 {
            if let Contents::Message(message) = contents {
                core.discard(message, bytes);
            }
            let error = Error::ElementSize {
                from: source,
                sent: ((wire & 0xff) as usize).min(EXACT),
                expected: size,
            };
            return self.slot.fill(Err(error), &mut core.links.wakes);
        }
        let length = bytes / size;
        let mut data = Vec::<T>::with_capacity(length);
        let pointer = data.as_mut_ptr().cast::<u8>();
        let received = Received {
            number,
            wire,
            from: source,
            data,
        };
        let landing = Landed {
            received,
            length,
            slot: self.slot,
        };
        match contents {
            Contents::Arrived(copy) => {
                // SAFETY: room for as many bytes.
                unsafe { pointer.copy_from_nonoverlapping(copy.as_ptr(), bytes) };
                Box::new(landing).landed(core, Ok(()));
            }
            Contents::Coming => unreachable!("it has no opener before it is here"),
            Contents::Message(message) => {
                let landing = Box::into_raw(Box::new(landing));
                // SAFETY: room for `length` elements, which the landing owns.
                match unsafe { core.links.receive(message, pointer, length, size) } {
                    Ok(request) => {
                        let contents = Contents::Coming;
                        core.mail.coming.push((
                            id,
                            Letter {
                                number,
                                source,
                                wire,
                                bytes,
                                contents,
                            },
                        ));
                        // SAFETY: as above.
                        unsafe { core.fly(request, landing, bytes) };
                    }
                    // SAFETY: not started: it is ours.
                    Err(error) => unsafe { Box::from_raw(landing) }.landed(core, Err(error)),
                }
            }
        }
    }

    fn refuse(self: Box<Self>, error: Error, wakes: &mut Vec<Waker>) {
        self.slot.fill(Err(error), wakes);
    }
}

struct Landed<T> {
    received: Received<T>,
    length: usize,
    slot: Arc<Slot<Received<T>>>,
}

impl<T: Copy + Send + 'static> Landing for Landed<T> {
    fn landed(mut self: Box<Self>, core: &mut Core, result: Result<()>) {
        let number = self.received.number;
        core.mail
            .coming
            .retain(|(_, letter)| letter.number != number);
        if let Err(error) = result {
            return self.slot.fill(Err(error), &mut core.links.wakes);
        }
        // SAFETY: MPI has written that many elements, or `open` has, and plain data takes any bytes.
        unsafe { self.received.data.set_len(self.length) };
        let Landed { received, slot, .. } = *self;
        // Futures leave with the lock held, so that this is exact.
        if Arc::strong_count(&slot) == 1 {
            core.give_back(received);
        } else {
            slot.fill(Ok(received), &mut core.links.wakes);
        }
    }
}

/// Where a message goes that nobody can have.
struct Trash(#[expect(dead_code, reason = "MPI writes to it")] Vec<u8>);

impl Landing for Trash {
    fn landed(self: Box<Self>, _: &mut Core, _: Result<()>) {}
}
