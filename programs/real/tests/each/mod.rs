//! Each test on the runtimes that programs have: of one thread, of all, and of three.

macro_rules! on_each_runtime {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            #[tokio::test]
            async fn on_one_thread() {
                super::$name().await
            }
            #[tokio::test(flavor = "multi_thread")]
            async fn on_all_threads() {
                super::$name().await
            }
            #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
            async fn on_three_threads() {
                super::$name().await
            }
        }
    )*};
}
pub(crate) use on_each_runtime;
