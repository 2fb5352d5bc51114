//! What a party keeps of a key.

use super::{encoded, identifier, Encoded, PARTIES, THRESHOLD};
use crate::error::ProtocolError;
use crate::wire::{decode, encode, Tag};
use frost_ed25519::keys::{KeyPackage, PublicKeyPackage, SigningShare, VerifyingShare};
use frost_ed25519::{Error, VerifyingKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zeroize::Zeroize;

/// A share as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredShare {
    party: u8,
    secret: Encoded,
    group: Encoded,
    /// Public counterparts of all shares, by party.
    verifying: [Encoded; PARTIES as usize],
}

impl Drop for StoredShare {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

/// A party's share, ready to sign.
pub(super) struct Share {
    /// Wiped when dropped.
    pub(super) key: KeyPackage,
    pub(super) public: PublicKeyPackage,
    pub(super) group: Encoded,
}

/// Encodes what key generation gave `party`.
pub(super) fn store(party: u8, key: &KeyPackage, public: &PublicKeyPackage) -> Result<Vec<u8>, Error> {
    let mut verifying = [[0; 32]; PARTIES as usize];
    for (place, share) in verifying.iter_mut().zip(public.verifying_shares().values()) {
        *place = encoded(&share.serialize()?);
    }
    let mut secret = key.signing_share().serialize();
    let group = encoded(&public.verifying_key().serialize()?);
    let stored = StoredShare { party, secret: encoded(&secret), group, verifying };
    secret.zeroize();
    Ok(encode(Tag::FrostShareV1, &stored))
}

/// Decodes the share of `party`.
///
/// # Errors
/// It is damaged or another party's.
pub(super) fn load(party: u8, bytes: &[u8]) -> Result<Share, ProtocolError> {
    let stored: StoredShare = decode(Tag::FrostShareV1, bytes).ok_or_else(damaged)?;
    if stored.party != party {
        return Err(ProtocolError::argument("share is another party's"));
    }
    open(&stored).map_err(|_| damaged())?.ok_or_else(damaged)
}

/// `None` if the secret is not the one of its public counterpart.
fn open(stored: &StoredShare) -> Result<Option<Share>, Error> {
    let secret = SigningShare::deserialize(&stored.secret)?;
    let group = VerifyingKey::deserialize(&stored.group)?;
    let mut verifying = BTreeMap::new();
    for (party, share) in (1u16..).zip(&stored.verifying) {
        verifying.insert(party.try_into()?, VerifyingShare::deserialize(share)?);
    }
    let own = VerifyingShare::from(secret);
    let Ok(id) = identifier(stored.party) else { return Ok(None) };
    if verifying.get(&id) != Some(&own) {
        return Ok(None);
    }
    Ok(Some(Share {
        key: KeyPackage::new(id, secret, own, group, THRESHOLD.into()),
        public: PublicKeyPackage::new(verifying, group, Some(THRESHOLD.into())),
        group: stored.group,
    }))
}

fn damaged() -> ProtocolError {
    ProtocolError::argument("share is damaged")
}
