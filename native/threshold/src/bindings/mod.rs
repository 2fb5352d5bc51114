//! The sessions as JavaScript classes.
//!
//! All classes work alike: `start()`, then for every round `receive(from, message)` once a peer and `advance()`, which
//! returns whether the session is done; `message(to)` is what to send to each peer before the next round. Errors are thrown as
//! `Error` with `code` (`bad_message`, `aborted`, `ban`) and, where known, `culprit`. Anything else thrown is a panic: the
//! instance must not be used again. `free()` wipes and releases a session.

mod ecdsa;
mod frost;

use crate::error::ProtocolError;
use js_sys::{Error, Reflect};
use wasm_bindgen::prelude::*;

impl From<ProtocolError> for JsValue {
    fn from(error: ProtocolError) -> Self {
        let thrown = Error::new(&error.detail);
        // Setting a property of a fresh, ordinary object cannot fail.
        let _ = Reflect::set(&thrown, &"code".into(), &error.code.as_str().into());
        if let Some(culprit) = error.culprit {
            let _ = Reflect::set(&thrown, &"culprit".into(), &culprit.into());
        }
        thrown.into()
    }
}

/// Makes a panic tell where it happened. Its message is left out, for it may quote a value.
#[wasm_bindgen(start)]
fn on_load() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
        wasm_bindgen::throw_str(&format!("panic at {place}"));
    }));
}

fn missing() -> JsValue {
    ProtocolError::argument("no message for this party, or no result yet").into()
}
