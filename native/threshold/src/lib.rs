//! Threshold signing for the gateway's MPC nodes.
//!
//! Each module is one protocol with sessions of its own: [`ecdsa`] is two-of-three ECDSA on secp256k1, [`frost`] two-of-three
//! Ed25519. What they share is here: errors ([`error`]), the encoding of messages ([`wire`]) and the collection of a round's
//! messages ([`inbox`]).
//! `bindings` exposes the sessions to JavaScript; nothing below it knows of WebAssembly, so `cargo test` runs all of it
//! natively.

pub mod ecdsa;
pub mod error;
pub mod frost;
pub mod inbox;
pub mod wire;

#[cfg(target_arch = "wasm32")]
mod allocator;
#[cfg(target_arch = "wasm32")]
mod bindings;
