//! From names to addresses.
//!
//! Numbers are taken as they are. Names are looked up by the system, which blocks, and therefore on the
//! blocking pool.

use crate::spawn_blocking;
use std::io;
use std::net::ToSocketAddrs as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// What a socket can be bound or connected to: an address, several, or a name with a port (`"localhost:80"`, `("localhost", 80)`).
///
/// It cannot be implemented elsewhere.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::TcpListener;
/// use std::net::Ipv4Addr;
///
/// let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
/// let another = TcpListener::bind("127.0.0.1:0").await?;
/// // The first that works.
/// let third = TcpListener::bind(&[listener.local_addr()?, "127.0.0.1:0".parse().unwrap()][..]).await?;
/// # drop((another, third));
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub trait ToSocketAddrs: Query {}

impl<T: Query + ?Sized> ToSocketAddrs for T {}

/// What has to be done to get addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Nothing: here they are.
    Known(Vec<SocketAddr>),
    /// To look up a name.
    Name(String, u16),
    /// It cannot be done: this is not `host:port`.
    Malformed(String),
}

/// The interior of [`ToSocketAddrs`].
pub trait Query {
    /// What has to be done.
    fn question(&self) -> Question;
}

impl Query for SocketAddr {
    fn question(&self) -> Question {
        Question::Known(vec![*self])
    }
}

impl Query for [SocketAddr] {
    fn question(&self) -> Question {
        Question::Known(self.to_vec())
    }
}

impl Query for str {
    fn question(&self) -> Question {
        if let Ok(address) = self.parse::<SocketAddr>() {
            return address.question();
        }
        match self
            .rsplit_once(':')
            .map(|(host, port)| (host, port.parse()))
        {
            Some((host, Ok(port))) if !host.is_empty() => (host, port).question(),
            _ => Question::Malformed(self.to_owned()),
        }
    }
}

impl Query for (&str, u16) {
    fn question(&self) -> Question {
        match self.0.parse::<IpAddr>() {
            Ok(address) => (address, self.1).question(),
            Err(_) => Question::Name(self.0.to_owned(), self.1),
        }
    }
}

impl<T: Query + ?Sized> Query for &T {
    fn question(&self) -> Question {
        (**self).question()
    }
}

macro_rules! query_as {
    ($($type:ty: $this:ident => $same:expr;)*) => {
        $(impl Query for $type {
            fn question(&self) -> Question {
                let $this = self;
                $same.question()
            }
        })*
    };
}

query_as! {
    SocketAddrV4: this => SocketAddr::V4(*this);
    SocketAddrV6: this => SocketAddr::V6(*this);
    (IpAddr, u16): this => SocketAddr::from(*this);
    (Ipv4Addr, u16): this => SocketAddr::from(*this);
    (Ipv6Addr, u16): this => SocketAddr::from(*this);
    Vec<SocketAddr>: this => this[..];
    String: this => this[..];
    (String, u16): this => (&*this.0, this.1);
}

impl<const N: usize> Query for [SocketAddr; N] {
    fn question(&self) -> Question {
        self[..].question()
    }
}

/// The addresses; there may be none.
pub(super) async fn resolve(what: impl ToSocketAddrs) -> io::Result<Vec<SocketAddr>> {
    match what.question() {
        Question::Known(addresses) => Ok(addresses),
        Question::Name(host, port) => look_up(host, port).await,
        Question::Malformed(text) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "{text:?} is not an address: it should be host:port, such as \"localhost:8080\""
            ),
        )),
    }
}

/// Tries `attempt` with one address after the other until it works.
pub(super) async fn first_that_works<R>(
    what: impl ToSocketAddrs,
    mut attempt: impl AsyncFnMut(SocketAddr) -> io::Result<R>,
) -> io::Result<R> {
    let mut last = None;
    for address in resolve(what).await? {
        match attempt(address).await {
            Ok(result) => return Ok(result),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "could not resolve to any address",
        )
    }))
}

/// Asks the system.
async fn look_up(host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    let answer = spawn_blocking(move || {
        let addresses = (host.as_str(), port).to_socket_addrs();
        addresses.map(Iterator::collect)
    });
    answer
        .await
        .unwrap_or_else(|failed| Err(io::Error::other(failed)))
}

/// Looks up all addresses of a name, on the blocking pool.
///
/// # Errors
/// If it is not known, or not of the form `host:port`.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// for address in blitz_io::net::lookup_host("localhost:80").await? {
///     println!("{address}");
/// }
/// # Ok(()) }
/// ```
pub async fn lookup_host<T>(host: T) -> io::Result<impl Iterator<Item = SocketAddr>>
where
    T: ToSocketAddrs,
{
    Ok(resolve(host).await?.into_iter())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_known_names_are_not_and_the_rest_is_malformed() {
        let known = |text: &str| Question::Known(vec![text.parse().unwrap()]);
        assert_eq!("127.0.0.1:80".question(), known("127.0.0.1:80"));
        assert_eq!("[::1]:80".question(), known("[::1]:80"));
        assert_eq!(("::1", 80).question(), known("[::1]:80"));
        assert_eq!((Ipv4Addr::LOCALHOST, 1).question(), known("127.0.0.1:1"));
        let name = Question::Name("localhost".into(), 80);
        assert_eq!("localhost:80".question(), name);
        assert_eq!(("localhost".to_owned(), 80).question(), name);
        for malformed in ["localhost", "", ":80", "localhost:http", "localhost:70000"] {
            assert_eq!(malformed.question(), Question::Malformed(malformed.into()));
        }
    }
}
