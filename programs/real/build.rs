//! What `protoc` would have made of a `.proto` file with one service: its four methods, one of each kind.

use tonic_build::manual::{Builder, Method, Service};

fn main() {
    let method = |name: &str, route: &str, output: &str| {
        Method::builder()
            .name(name)
            .route_name(route)
            .input_type("crate::Number")
            .output_type(output)
            .codec_path("tonic_prost::ProstCodec")
    };
    let arithmetic = Service::builder()
        .name("Arithmetic")
        .package("real")
        .method(method("square", "Square", "crate::Number").build())
        .method(
            method("count", "Count", "crate::Number")
                .server_streaming()
                .build(),
        )
        .method(
            method("sum", "Sum", "crate::Total")
                .client_streaming()
                .build(),
        )
        .method(
            method("running", "Running", "crate::Total")
                .client_streaming()
                .server_streaming()
                .build(),
        )
        .build();
    Builder::new().compile(&[arithmetic]);
    println!("cargo::rerun-if-changed=../build.rs");
}
