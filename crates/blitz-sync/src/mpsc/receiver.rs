//! What both kinds of receivers can do.

/// The receiver `$Receiver` of a channel with the queue `$Queue`. `$room_made` is called when a sender waits for the room of a message that
/// was taken; `$make` makes a channel in examples.
macro_rules! receiver {
    ($(#[$attribute:meta])* $Receiver:ident, $Queue:ident, $room_made:expr, $make:literal) => {
        $(#[$attribute])*
        pub struct $Receiver<T>(Arc<Core<T, $Queue<T>>>);

        impl<T> $Receiver<T> {
            /// Waits for the next message. `None`: all senders are gone (or the channel was closed), and all messages received.
            ///
            /// Cancel-safe: dropped before it is ready, it has taken nothing.
            ///
            /// ```
            /// # blitz_sync::block_on(async {
            #[doc = concat!("let (sender, mut receiver) = ", $make, ";")]
            /// std::thread::spawn(move || blitz_sync::block_on(sender.try_or_send(7)));
            /// assert_eq!(receiver.recv().await, Some(7));
            /// assert_eq!(receiver.recv().await, None);
            /// # });
            /// # trait Any { async fn try_or_send(&self, n: u8); }
            /// # impl Any for blitz_sync::mpsc::Sender<u8> {
            /// #     async fn try_or_send(&self, n: u8) { self.send(n).await.unwrap(); }
            /// # }
            /// # impl Any for blitz_sync::mpsc::UnboundedSender<u8> {
            /// #     async fn try_or_send(&self, n: u8) { self.send(n).unwrap(); }
            /// # }
            /// ```
            pub async fn recv(&mut self) -> Option<T> {
                poll_fn(|cx| self.poll_recv(cx)).await
            }

            /// As [`recv`](Self::recv), for futures written by hand. The waker of the last call is the one that is woken.
            #[inline]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                // SAFETY: the only receiver, borrowed exclusively; it stops waiting when it is dropped, and the node is part of the
                // channel.
                unsafe { self.0.poll_recv(Core::single(&self.0), $room_made, cx) }
            }

            /// Waits until there is a message, then takes up to `limit` of those that are there and appends them to `buffer`. Returns
            /// how many; 0 if `limit` is 0 or no message will come any more. Cancel-safe.
            pub async fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                poll_fn(|cx| self.poll_recv_many(cx, buffer, limit)).await
            }

            /// As [`recv_many`](Self::recv_many), for futures written by hand.
            pub fn poll_recv_many(
                &mut self,
                cx: &mut Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> Poll<usize> {
                if limit == 0 {
                    return Poll::Ready(0);
                }
                let Some(first) = ready!(self.poll_recv(cx)) else {
                    return Poll::Ready(0);
                };
                buffer.push(first);
                let mut taken = 1;
                while taken < limit {
                    let Ok(message) = self.try_recv() else {
                        break;
                    };
                    buffer.push(message);
                    taken += 1;
                }
                Poll::Ready(taken)
            }

            /// Takes a message if there is one.
            ///
            /// # Errors
            /// See [`TryRecvError`].
            ///
            /// ```
            /// use blitz_sync::mpsc;
            /// let (sender, mut receiver) = mpsc::channel(1);
            /// assert!(receiver.try_recv().is_err());
            /// sender.try_send(1).unwrap();
            /// assert_eq!(receiver.try_recv(), Ok(1));
            /// ```
            #[inline]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                // SAFETY: the only receiver, borrowed exclusively.
                unsafe { self.0.try_recv($room_made) }.map_err(|finished| match finished {
                    true => TryRecvError::Disconnected,
                    false => TryRecvError::Empty,
                })
            }

            /// As [`recv`](Self::recv), on a thread that may block.
            ///
            /// # Panics
            /// Inside of a current-thread runtime, whose thread would wait for itself.
            ///
            /// ```
            /// use blitz_sync::mpsc;
            /// let (sender, mut receiver) = mpsc::channel(1);
            /// let thread = std::thread::spawn(move || sender.blocking_send(1));
            /// assert_eq!(receiver.blocking_recv(), Some(1));
            /// # thread.join().unwrap().unwrap();
            /// ```
            #[cfg(not(loom))]
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                crate::parking::wait("blocking_recv", self.recv())
            }

            /// As [`recv_many`](Self::recv_many), on a thread that may block.
            ///
            /// # Panics
            /// Inside of a current-thread runtime, whose thread would wait for itself.
            #[cfg(not(loom))]
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                crate::parking::wait("blocking_recv_many", self.recv_many(buffer, limit))
            }

            /// Refuses messages from now on. Those that were sent before can still be received, and so can those for which room was
            /// reserved before.
            pub fn close(&mut self) {
                self.0.close();
            }

            /// Was it closed, or are all senders gone?
            pub fn is_closed(&self) -> bool {
                self.0.queue.is_closed()
            }

            /// Is there no message at the moment?
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// How many messages there are at the moment.
            pub fn len(&self) -> usize {
                self.0.queue.len()
            }

            /// How many senders there are.
            pub fn sender_strong_count(&self) -> usize {
                read(&self.0.sender_count)
            }

            /// How many weak senders there are.
            pub fn sender_weak_count(&self) -> usize {
                read(&self.0.weak_sender_count)
            }
        }

        impl<T> Unpin for $Receiver<T> {}

        #[cfg(feature = "stream")]
        impl<T> futures_core::Stream for $Receiver<T> {
            type Item = T;

            fn poll_next(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
                self.get_mut().poll_recv(cx)
            }
        }

        impl<T> Drop for $Receiver<T> {
            fn drop(&mut self) {
                self.0.stop_waiting(Core::single(&self.0));
                // SAFETY: that was the only one.
                unsafe { self.0.abandon() };
            }
        }

        impl<T> fmt::Debug for $Receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Receiver))
                    .field("len", &self.len())
                    .field("is_closed", &self.is_closed())
                    .finish()
            }
        }
    };
}

/// What all senders, weak ones included, can do: `$Sender` and `$Weak` are handles around `Tx` and `WeakTx` in field 0.
macro_rules! senders {
    ($Sender:ident, $(#[$attribute:meta])* $Weak:ident, $Queue:ident) => {
        impl<T> $Sender<T> {
            /// Waits until the receiver is dropped or closed: nothing that is sent would be received. Cancel-safe.
            ///
            /// ```
            /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
            /// # block_on(async {
            /// let (sender, receiver) = blitz_sync::mpsc::unbounded_channel::<u32>();
            /// drop(receiver);
            /// sender.closed().await; // nobody would receive anything
            /// # });
            /// ```
            pub async fn closed(&self) {
                self.0.closed().await;
            }

            /// Has the receiver been dropped or closed?
            pub fn is_closed(&self) -> bool {
                self.0.queue.is_closed()
            }

            /// Do both belong to the same channel?
            pub fn same_channel(&self, other: &Self) -> bool {
                self.0.same_channel(&other.0)
            }

            /// A handle that does not keep the channel open.
            #[must_use]
            pub fn downgrade(&self) -> $Weak<T> {
                $Weak(self.0.downgrade())
            }

            /// How many senders there are.
            pub fn strong_count(&self) -> usize {
                read(&self.0.sender_count)
            }

            /// How many weak senders there are.
            pub fn weak_count(&self) -> usize {
                read(&self.0.weak_sender_count)
            }
        }

        impl<T> Clone for $Sender<T> {
            fn clone(&self) -> Self {
                $Sender(self.0.clone())
            }
        }

        impl<T> fmt::Debug for $Sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Sender))
                    .field("len", &self.0.queue.len())
                    .field("is_closed", &self.is_closed())
                    .finish()
            }
        }

        $(#[$attribute])*
        pub struct $Weak<T>(WeakTx<T, $Queue<T>>);

        impl<T> $Weak<T> {
            /// A sender, unless all senders are gone.
            #[must_use]
            pub fn upgrade(&self) -> Option<$Sender<T>> {
                self.0.upgrade().map($Sender)
            }

            /// How many senders there are.
            pub fn strong_count(&self) -> usize {
                self.0.strong_count()
            }

            /// How many weak senders there are.
            pub fn weak_count(&self) -> usize {
                self.0.weak_count()
            }
        }

        impl<T> Clone for $Weak<T> {
            fn clone(&self) -> Self {
                $Weak(self.0.clone())
            }
        }

        impl<T> fmt::Debug for $Weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Weak))
                    .field("strong_count", &self.strong_count())
                    .finish()
            }
        }
    };
}

pub(super) use {receiver, senders};
