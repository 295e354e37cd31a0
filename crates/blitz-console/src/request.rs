//! The head of a request: all that this server reads.

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// From `?token=`.
    pub(crate) token: Option<String>,
    /// From `Authorization: Bearer`.
    pub(crate) bearer: Option<String>,
    /// Without the port.
    pub(crate) host: Option<String>,
}

/// A head longer than this is not one of a browser's.
pub(crate) const MOST: usize = 16 * 1024;

/// Where the head ends, if all of it is there.
pub(crate) fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    end.map(|at| at + 4)
}

impl Request {
    /// Reads a head; `None` if it is not one of HTTP/1.
    pub(crate) fn read(head: &[u8]) -> Option<Self> {
        let head = std::str::from_utf8(head).ok()?;
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target, version) = (first.next()?, first.next()?, first.next()?);
        let is_word = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_word || first.next().is_some() || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return None;
        }
        if !target.starts_with('/') {
            return None;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let in_query = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("token="))
            .and_then(decoded);
        let mut request = Request {
            method: method.into(),
            path: path.into(),
            token: in_query,
            bearer: None,
            host: None,
        };
        for line in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':')?;
            let value = value.trim();
            // Not a name of a header, which others might take for one.
            if name.is_empty() || name.contains(|letter: char| !letter.is_ascii_graphic()) {
                return None;
            }
            if name.eq_ignore_ascii_case("host") {
                let host = without_port(value).to_ascii_lowercase();
                // Which of two would be meant?
                if request.host.replace(host).is_some() {
                    return None;
                }
            } else if name.eq_ignore_ascii_case("authorization") {
                let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
                if scheme.eq_ignore_ascii_case("bearer")
                    && request.bearer.replace(token.trim().into()).is_some()
                {
                    return None;
                }
            }
        }
        Some(request)
    }
}

/// The host, if there is nothing behind it but a port; otherwise all of it, which is nobody's name.
fn without_port(host: &str) -> &str {
    let is_port = |rest: &str| {
        let number = rest.strip_prefix(':');
        rest.is_empty() || number.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (name, rest) = match host.strip_prefix('[') {
        // An address of version 6, in brackets.
        Some(inside) => inside.split_once(']').unwrap_or((host, "no end")),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    if is_port(rest) { name } else { host }
}

/// Undoes `%41` and `+`; `None` if that is not text.
fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                let digits = std::str::from_utf8(bytes.get(at + 1..at + 3)?).ok()?;
                out.push(u8::from_str_radix(digits, 16).ok()?);
                at += 2;
            }
            b'+' => out.push(b' '),
            byte => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8(out).ok()
}

/// Are the two the same? Takes as long for a wrong guess whose beginning is right as for any other of that length.
pub(crate) fn is_same_token(given: &str, wanted: &str) -> bool {
    let (given, wanted) = (given.as_bytes(), wanted.as_bytes());
    let mut differences = u8::from(given.len() != wanted.len());
    for (index, byte) in given.iter().enumerate() {
        // Wraps around, so that the length of the right one does not show.
        let other = wanted.get(index % wanted.len().max(1)).unwrap_or(&0);
        differences |= std::hint::black_box(byte ^ other);
    }
    std::hint::black_box(differences) == 0 && !wanted.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str) -> Option<Request> {
        Request::read(head.as_bytes())
    }

    #[test]
    fn heads_of_browsers_are_understood() {
        let request = read(
            "GET /events?x=1&token=a%20b+c HTTP/1.1\r\nHost: LocalHost:6670\r\nAccept: */*\r\n\r\n",
        );
        let request = request.unwrap();
        assert_eq!(request.method, "GET");
        assert_eq!(request.path, "/events");
        assert_eq!(request.token.as_deref(), Some("a b c"));
        assert_eq!(request.host.as_deref(), Some("localhost"));
        let request = read("GET / HTTP/1.0\r\nhost: [::1]:80\r\nauthorization: Bearer t\r\n\r\n");
        let request = request.unwrap();
        assert_eq!(request.host.as_deref(), Some("::1"));
        assert_eq!(request.bearer.as_deref(), Some("t"));
    }

    #[test]
    fn a_name_that_begins_like_an_address_is_not_one() {
        let host = |host: &str| {
            read(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"))
                .unwrap()
                .host
        };
        assert_eq!(host("[::1]").as_deref(), Some("::1"));
        assert_eq!(host("[::1].elsewhere").as_deref(), Some("[::1].elsewhere"));
        assert_eq!(host("[::1").as_deref(), Some("[::1"));
        for wrong in [
            "localhost:6670@evil.com",
            "localhost:x",
            "127.0.0.1:1:2",
            "[::1]:x",
        ] {
            assert_eq!(host(wrong).as_deref(), Some(wrong));
        }
        assert_eq!(host("localhost:").as_deref(), Some("localhost"));
    }

    #[test]
    fn nonsense_is_not() {
        for wrong in [
            "",
            "\r\n\r\n",
            "GET\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET / HTTP/1.1 more\r\n\r\n",
            "get / HTTP/1.1\r\n\r\n",
            "GET http://elsewhere/ HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            " / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere\r\n\r\n",
            "GET / HTTP/1.1\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : elsewhere\r\n\r\n",
            "GET / HTTP/1.1\r\n Host: elsewhere\r\n\r\n",
            "GET / HTTP/1.1\r\n: empty\r\n\r\n",
        ] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        assert_eq!(Request::read(b"GET /\xff HTTP/1.1\r\n\r\n"), None);
        assert_eq!(decoded("%4"), None);
        assert_eq!(decoded("%zz"), None);
        assert_eq!(decoded("%ff"), None);
    }

    #[test]
    fn tokens_are_the_same_or_not() {
        assert!(is_same_token("secret", "secret"));
        for wrong in ["", "secre", "secret!", "Secret", "secretsecret", "xecret"] {
            assert!(!is_same_token(wrong, "secret"), "{wrong}");
        }
        assert!(!is_same_token("", ""));
    }
}
