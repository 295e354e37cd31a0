//! What a program wants to be called for: the beginning and end of threads, and their sleep.

use std::fmt;
use std::sync::Arc;

type Hook = Option<Arc<dyn Fn() + Send + Sync>>;

/// See the module's documentation.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) start: Hook,
    pub(crate) stop: Hook,
    pub(crate) park: Hook,
    pub(crate) unpark: Hook,
}

impl Hooks {
    pub(crate) fn any(&self) -> bool {
        [&self.start, &self.stop, &self.park, &self.unpark]
            .iter()
            .any(|hook| hook.is_some())
    }
}

/// Calls it, if there is one.
pub(crate) fn call(hook: &Hook) {
    if let Some(hook) = hook {
        hook();
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("any", &self.any()).finish()
    }
}
