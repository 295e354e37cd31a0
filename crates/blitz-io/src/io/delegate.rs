//! The traits for types that leave a way to what they wrap, written once. For `pin_project` types.

/// Reads from the field.
macro_rules! delegate_read {
    ([$($generics:tt)*] $type:ty, $field:ident) => {
        impl<$($generics)*> crate::io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.project().$field.poll_read(cx, buf)
            }
        }
    };
}

/// Reads from the field's buffer.
macro_rules! delegate_buf_read {
    ([$($generics:tt)*] $type:ty, $field:ident) => {
        impl<$($generics)*> crate::io::AsyncBufRead for $type {
            fn poll_fill_buf(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<&[u8]>> {
                self.project().$field.poll_fill_buf(cx)
            }

            fn consume(self: std::pin::Pin<&mut Self>, amount: usize) {
                self.project().$field.consume(amount);
            }
        }
    };
}

/// Writes to the field.
macro_rules! delegate_write {
    ([$($generics:tt)*] $type:ty, $field:ident) => {
        impl<$($generics)*> crate::io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bytes: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.project().$field.poll_write(cx, bytes)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffers: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.project().$field.poll_write_vectored(cx, buffers)
            }

            fn is_write_vectored(&self) -> bool {
                self.$field.is_write_vectored()
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.project().$field.poll_flush(cx)
            }

            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.project().$field.poll_shutdown(cx)
            }
        }
    };
}

/// What is inside of a wrapper with one pinned field.
macro_rules! inner_access {
    ([$($generics:tt)*] $type:ty, $inner:ty, $field:ident) => {
        impl<$($generics)*> $type {
            /// What it wraps.
            pub fn get_ref(&self) -> &$inner {
                &self.$field
            }

            /// What it wraps. Reading or writing there bypasses this.
            pub fn get_mut(&mut self) -> &mut $inner {
                &mut self.$field
            }

            /// What it wraps, pinned. Reading or writing there bypasses this.
            pub fn get_pin_mut(self: std::pin::Pin<&mut Self>) -> std::pin::Pin<&mut $inner> {
                self.project().$field
            }

            /// What it wraps, without this. What a buffer still holds is lost.
            pub fn into_inner(self) -> $inner {
                self.$field
            }
        }
    };
}
