//! Reserved room: a send that cannot fail and does not wait.

use super::bounded::Sender;
use crate::channel::handles::Tx;
use crate::channel::queue::bounded::Bounded;
use std::fmt;
use std::iter::FusedIterator;
use std::mem::ManuallyDrop;

/// Room for one message. Dropped unused, it gives the room to the next sender in line.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::mpsc::channel(1);
/// let permit = sender.try_reserve().unwrap();
/// assert_eq!(sender.capacity(), 0); // nobody else gets in
/// permit.send("hello");
/// assert_eq!(receiver.try_recv(), Ok("hello"));
/// ```
#[must_use = "the room is given back when the permit is dropped"]
pub struct Permit<'a, T>(&'a Tx<T, Bounded<T>>);

impl<'a, T> Permit<'a, T> {
    /// The caller has reserved the room.
    pub(super) fn new(sender: &'a Tx<T, Bounded<T>>) -> Self {
        Permit(sender)
    }

    /// Sends a message. If the receiver is gone, nobody receives it.
    pub fn send(self, message: T) {
        ManuallyDrop::new(self).0.send_reserved(message);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.0.release(1);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit { .. }")
    }
}

/// Room for several messages, as so many permits. What is left when it is dropped is given back.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::mpsc::channel(3);
/// for (number, permit) in (1..).zip(sender.try_reserve_many(2).unwrap()) {
///     permit.send(number);
/// }
/// assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Ok(2)));
/// ```
#[must_use = "the room is given back when the permits are dropped"]
pub struct PermitIterator<'a, T> {
    sender: &'a Tx<T, Bounded<T>>,
    left: usize,
}

impl<'a, T> PermitIterator<'a, T> {
    /// The caller has reserved the room.
    pub(super) fn new(sender: &'a Tx<T, Bounded<T>>, left: usize) -> Self {
        PermitIterator { sender, left }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit(self.sender))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.sender.release(self.left);
        }
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator")
            .field("left", &self.left)
            .finish()
    }
}

/// Room for one message, and the sender that reserved it.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::mpsc::channel(2);
/// let (one, two) = (sender.clone().try_reserve_owned().unwrap(), sender.clone().try_reserve_owned().unwrap());
/// assert!(one.same_channel(&two) && one.same_channel_as_sender(&sender));
/// let sender = one.send("hello"); // and the sender comes back
/// let sender = two.release(); // without a message
/// assert_eq!(receiver.try_recv(), Ok("hello"));
/// assert_eq!(sender.capacity(), 2);
/// ```
#[must_use = "the room is given back when the permit is dropped"]
pub struct OwnedPermit<T> {
    /// Empty when the room has been used or given back.
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    /// The caller has reserved the room.
    pub(super) fn new(sender: Sender<T>) -> Self {
        OwnedPermit {
            sender: Some(sender),
        }
    }

    fn sender(&self) -> &Sender<T> {
        self.sender.as_ref().expect("taken with the permit only")
    }

    /// Sends a message, and gives the sender back.
    pub fn send(mut self, message: T) -> Sender<T> {
        self.sender().0.send_reserved(message);
        self.sender.take().expect("taken with the permit only")
    }

    /// Gives the room and the sender back.
    pub fn release(mut self) -> Sender<T> {
        self.sender().0.release(1);
        self.sender.take().expect("taken with the permit only")
    }

    /// Do both belong to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        self.sender().same_channel(other.sender())
    }

    /// Do both belong to the same channel?
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender().same_channel(sender)
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            sender.0.release(1);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnedPermit { .. }")
    }
}
