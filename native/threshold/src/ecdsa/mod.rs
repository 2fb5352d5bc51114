//! Two-of-three ECDSA on secp256k1 after Doerner, Kondi, Lee and shelat, "Threshold ECDSA in Three Rounds" (DKLs23,
//! <https://eprint.iacr.org/2023/765>), by the library dkls23-core.
//!
//! [`keygen`] makes a key that exists nowhere, [`sign`] signs with two of its three shares, under the key or a BIP-32 child
//! of it.

mod keygen;
mod path;
mod sign;
#[cfg(test)]
mod tests;

pub use keygen::{Key, Keygen, KEYGEN_ROUNDS};
pub use sign::{Sign, Signature, SIGN_ROUNDS};

pub use crate::inbox::Step;

use crate::error::ProtocolError;
use dkls23_core::protocols::PartyIndex;

/// Parties, numbered from 1.
pub const PARTIES: u8 = 3;
/// Parties that sign together.
pub const THRESHOLD: u8 = 2;

fn party_index(party: u8) -> Result<PartyIndex, ProtocolError> {
    match PartyIndex::new(party) {
        Ok(index) if party <= PARTIES => Ok(index),
        _ => Err(ProtocolError::argument("party is none of 1, 2, 3")),
    }
}
