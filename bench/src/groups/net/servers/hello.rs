//! The HTTP service: always the same answer, through hyper.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::convert::Infallible;

/// What the server says.
pub const HELLO: &str = "Hello, world!";

/// Answers the requests of one connection until the peer is gone.
pub async fn serve(stream: impl Read + Write + Unpin) {
    let _ = http1::Builder::new()
        .serve_connection(stream, service_fn(hello))
        .await;
}

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(
        HELLO.as_bytes(),
    ))))
}
