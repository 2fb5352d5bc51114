//! Two-of-three Ed25519 by FROST, "The Flexible Round-Optimized Schnorr Threshold Protocol" ([RFC 9591]), with the ciphersuite
//! FROST(Ed25519, SHA-512), by the library frost-ed25519. Its signatures are those of plain Ed25519 (RFC 8032).
//!
//! [`keygen`] makes a key that exists nowhere (the RFC leaves that open: it is the one of the [FROST paper], figure 1), [`sign`] signs
//! a message with two of its three shares. Ed25519 keys have no public derivation: every address has a key of its own.
//!
//! [RFC 9591]: https://www.rfc-editor.org/rfc/rfc9591
//! [FROST paper]: https://eprint.iacr.org/2020/852

mod keygen;
mod random;
mod share;
mod sign;
#[cfg(test)]
mod tests;

pub use keygen::{Key, Keygen, KEYGEN_ROUNDS};
pub use sign::{Sign, MAX_SIGNED_BYTES, SIGN_ROUNDS};

use crate::error::ProtocolError;
use frost_ed25519::{Error, Identifier};
use sha2::{Digest, Sha256};

/// Parties, numbered from 1.
const PARTIES: u8 = 3;
/// Parties that sign together.
const THRESHOLD: u8 = 2;

/// A scalar or a point, as the library encodes it.
type Encoded = [u8; 32];

fn identifier(party: u8) -> Result<Identifier, ProtocolError> {
    match Identifier::try_from(u16::from(party)) {
        Ok(identifier) if party <= PARTIES => Ok(identifier),
        _ => Err(ProtocolError::argument("party is none of 1, 2, 3")),
    }
}

fn party_of(wanted: &Identifier) -> Option<u8> {
    (1..=PARTIES).find(|party| identifier(*party).is_ok_and(|it| it == *wanted))
}

/// What the library says of a failed check. A failure of our own state is nobody's fault but ours.
fn aborted(own: u8, error: &Error) -> ProtocolError {
    let culprit = error.culprits().iter().filter_map(party_of).find(|party| *party != own);
    ProtocolError::aborted(culprit, &error.to_string())
}

fn encoded(bytes: &[u8]) -> Encoded {
    bytes.try_into().expect("scalars and points of this curve have 32 bytes")
}

/// Hashes parts of any length: no two lists of parts give the same input.
fn hash(domain: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in std::iter::once(&domain).chain(parts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn out_of_order() -> ProtocolError {
    ProtocolError::argument("session is over, not yet started or started twice")
}
