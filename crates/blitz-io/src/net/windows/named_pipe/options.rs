//! How a named pipe is made, and opened.

use super::{NamedPipeClient, NamedPipeServer, PipeMode};
use std::ffi::{OsStr, c_void};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, IntoRawHandle, OwnedHandle};
use std::ptr;
use windows_sys::Win32::Foundation::{GENERIC_READ, GENERIC_WRITE, HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, OPEN_EXISTING,
    PIPE_ACCESS_INBOUND, PIPE_ACCESS_OUTBOUND, SECURITY_IDENTIFICATION, SECURITY_SQOS_PRESENT,
    WRITE_DAC, WRITE_OWNER,
};
use windows_sys::Win32::System::Pipes::{
    CreateNamedPipeW, PIPE_ACCEPT_REMOTE_CLIENTS, PIPE_READMODE_BYTE, PIPE_READMODE_MESSAGE,
    PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE, PIPE_TYPE_MESSAGE, PIPE_UNLIMITED_INSTANCES,
    SetNamedPipeHandleState,
};
use windows_sys::Win32::System::SystemServices::ACCESS_SYSTEM_SECURITY;

/// The size of a buffer if nobody says another.
const BUFFER: u32 = 64 * 1024;

/// A name as the system wants it, with a zero behind it.
fn wide(name: impl AsRef<OsStr>) -> Vec<u16> {
    name.as_ref().encode_wide().chain([0]).collect()
}

/// What `CreateFile` and its like return.
fn opened(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Defines options that are a flag or a number each.
macro_rules! options {
    ($options:ident { $($(#[$doc:meta])* $name:ident: $type:ty),* $(,)? }) => {
        impl $options {$(
            $(#[$doc])*
            pub fn $name(&mut self, $name: $type) -> &mut Self {
                self.$name = $name;
                self
            }
        )*}
    };
}

/// How to make an instance of a named pipe.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    pipe_mode: PipeMode,
    access_inbound: bool,
    access_outbound: bool,
    first_pipe_instance: bool,
    write_dac: bool,
    write_owner: bool,
    access_system_security: bool,
    reject_remote_clients: bool,
    max_instances: u32,
    out_buffer_size: u32,
    in_buffer_size: u32,
}

options! { ServerOptions {
    /// How bytes are put together; one after the other, if nothing is said.
    pipe_mode: PipeMode,
    /// Whether clients may write, and the server read. So, if nothing is said.
    access_inbound: bool,
    /// Whether the server may write, and clients read. So, if nothing is said.
    access_outbound: bool,
    /// Whether it is an error ([`PermissionDenied`](io::ErrorKind::PermissionDenied)) if there is an instance already: another process might have taken the
    /// name to answer in our place.
    first_pipe_instance: bool,
    /// Whether the handle may change who may use the pipe.
    write_dac: bool,
    /// Whether the handle may change whose the pipe is.
    write_owner: bool,
    /// Whether the handle may change what of the pipe is logged. Takes a privilege.
    access_system_security: bool,
    /// Whether only processes of this machine may be clients. So, if nothing is said.
    reject_remote_clients: bool,
    /// The size of the buffer for what goes out; a hint.
    out_buffer_size: u32,
    /// The size of the buffer for what comes in; a hint.
    in_buffer_size: u32,
} }

impl ServerOptions {
    /// A stream of bytes both ways, for clients of this machine, with any number of instances.
    pub fn new() -> Self {
        ServerOptions {
            pipe_mode: PipeMode::Byte,
            access_inbound: true,
            access_outbound: true,
            first_pipe_instance: false,
            write_dac: false,
            write_owner: false,
            access_system_security: false,
            reject_remote_clients: true,
            max_instances: PIPE_UNLIMITED_INSTANCES,
            out_buffer_size: BUFFER,
            in_buffer_size: BUFFER,
        }
    }

    /// How many instances there may be. The same number for all of them.
    ///
    /// # Panics
    /// If that is more than 254.
    #[track_caller]
    pub fn max_instances(&mut self, instances: usize) -> &mut Self {
        assert!(instances < 255, "there may be 254 instances at most");
        self.max_instances = instances as u32;
        self
    }

    /// Makes an instance of the pipe `\\.\pipe\NAME`.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn create(&self, addr: impl AsRef<OsStr>) -> io::Result<NamedPipeServer> {
        // SAFETY: no attributes.
        unsafe { self.create_with_security_attributes_raw(addr, ptr::null_mut()) }
    }

    /// As [`create`](Self::create), with attributes: who may use the pipe, and whether children inherit the handle.
    ///
    /// # Safety
    /// `attrs` is null or points to a `SECURITY_ATTRIBUTES`.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub unsafe fn create_with_security_attributes_raw(
        &self,
        addr: impl AsRef<OsStr>,
        attrs: *mut c_void,
    ) -> io::Result<NamedPipeServer> {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let open_mode = FILE_FLAG_OVERLAPPED
            | flag(self.access_inbound, PIPE_ACCESS_INBOUND)
            | flag(self.access_outbound, PIPE_ACCESS_OUTBOUND)
            | flag(self.first_pipe_instance, FILE_FLAG_FIRST_PIPE_INSTANCE)
            | flag(self.write_dac, WRITE_DAC)
            | flag(self.write_owner, WRITE_OWNER)
            | flag(self.access_system_security, ACCESS_SYSTEM_SECURITY);
        let kind = match self.pipe_mode {
            PipeMode::Byte => PIPE_TYPE_BYTE | PIPE_READMODE_BYTE,
            PipeMode::Message => PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE,
        };
        let clients = match self.reject_remote_clients {
            true => PIPE_REJECT_REMOTE_CLIENTS,
            false => PIPE_ACCEPT_REMOTE_CLIENTS,
        };
        let name = wide(addr);
        /// How long clients wait by default, those that ask for that; 0 is the system's own choice.
        const TIME_OUT: u32 = 0;
        // SAFETY: the name ends with a zero, and the caller promises what the attributes are.
        let handle = opened(unsafe {
            CreateNamedPipeW(
                name.as_ptr(),
                open_mode,
                kind | clients,
                self.max_instances,
                self.out_buffer_size,
                self.in_buffer_size,
                TIME_OUT,
                attrs.cast(),
            )
        })?;
        // SAFETY: such a pipe, and ours.
        unsafe { NamedPipeServer::from_raw_handle(handle.into_raw_handle()) }
    }
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// How to open a named pipe.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    read: bool,
    write: bool,
    security_qos_flags: u32,
    pipe_mode: PipeMode,
}

options! { ClientOptions {
    /// Whether to read. So, if nothing is said.
    read: bool,
    /// Whether to write. So, if nothing is said.
    write: bool,
    /// Whether a read ends with a message, on a pipe that has messages. A stream of bytes, if nothing is said.
    pipe_mode: PipeMode,
} }

impl ClientOptions {
    /// Reads and writes bytes, and lets the server know who we are, but not act for us.
    pub fn new() -> Self {
        ClientOptions {
            read: true,
            write: true,
            security_qos_flags: SECURITY_IDENTIFICATION | SECURITY_SQOS_PRESENT,
            pipe_mode: PipeMode::Byte,
        }
    }

    /// What the server may do with our identity: the flags of `CreateFile` that begin with `SECURITY_`.
    pub fn security_qos_flags(&mut self, flags: u32) -> &mut Self {
        self.security_qos_flags = flags | SECURITY_SQOS_PRESENT;
        self
    }

    /// Opens the pipe `\\.\pipe\NAME`, or that of another machine.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) if there is none. If all instances have clients, the system's error 231 (`ERROR_PIPE_BUSY`): try again after a
    /// while.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn open(&self, addr: impl AsRef<OsStr>) -> io::Result<NamedPipeClient> {
        // SAFETY: no attributes.
        unsafe { self.open_with_security_attributes_raw(addr, ptr::null_mut()) }
    }

    /// As [`open`](Self::open), with attributes.
    ///
    /// # Safety
    /// `attrs` is null or points to a `SECURITY_ATTRIBUTES`.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub unsafe fn open_with_security_attributes_raw(
        &self,
        addr: impl AsRef<OsStr>,
        attrs: *mut c_void,
    ) -> io::Result<NamedPipeClient> {
        let name = wide(addr);
        let read = if self.read { GENERIC_READ } else { 0 };
        let write = if self.write { GENERIC_WRITE } else { 0 };
        // SAFETY: the name ends with a zero, and the caller promises what the attributes are.
        let handle = opened(unsafe {
            CreateFileW(
                name.as_ptr(),
                read | write,
                0,
                attrs.cast(),
                OPEN_EXISTING,
                self.security_qos_flags | FILE_FLAG_OVERLAPPED,
                ptr::null_mut(),
            )
        })?;
        if self.pipe_mode == PipeMode::Message {
            let mode = PIPE_READMODE_MESSAGE;
            // SAFETY: the handle is open, and the mode is read during the call only.
            let set = unsafe {
                SetNamedPipeHandleState(handle.as_raw_handle(), &mode, ptr::null(), ptr::null())
            };
            if set == 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: such a pipe, and ours.
        unsafe { NamedPipeClient::from_raw_handle(handle.into_raw_handle()) }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self::new()
    }
}
