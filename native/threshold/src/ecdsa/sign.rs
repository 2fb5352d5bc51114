//! Signing by two parties: Protocol 3.6 of DKLs23, three rounds.
//!
//! The digest is fixed when the session is made and bound into its first message: there are no presignatures. State between
//! rounds lives in this value only; the library's types for it can be used once and cannot be copied.

use super::{party_index, path, Step, PARTIES, THRESHOLD};
use crate::error::ProtocolError;
use crate::inbox::Messages;
use crate::wire::{decode, decode_message, encode, Tag};
use dkls23_core::protocols::signing::{
    Broadcast3to4, KeepPhase1to2, KeepPhase2to3, SignData, TransmitPhase1to2, TransmitPhase2to3, UniqueKeep1to2,
    UniqueKeep2to3,
};
use dkls23_core::protocols::{Party, PartyIndex};
use k256::Secp256k1;
use std::collections::BTreeMap;

/// Message rounds of signing.
pub const SIGN_ROUNDS: u8 = 3;

/// An ECDSA signature, verified against the (child) key before it is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Big-endian r.
    pub r: [u8; 32],
    /// Big-endian s, at most half the group order (BIP-62).
    pub s: [u8; 32],
    /// Bit 0: y of R is odd; bit 1: x of R exceeded the group order.
    pub recovery_id: u8,
}

/// What this session waits for.
enum Stage {
    Start,
    First(UniqueKeep1to2<Secp256k1>, BTreeMap<PartyIndex, KeepPhase1to2<Secp256k1>>),
    Second(UniqueKeep2to3<Secp256k1>, BTreeMap<PartyIndex, KeepPhase2to3<Secp256k1>>),
    Third {
        r: String,
        own: Broadcast3to4<Secp256k1>,
    },
    /// Finished or failed: a session is never continued after an error.
    Over,
}

/// One party's signing session.
pub struct Sign {
    /// The share, moved to the child key. Wiped when dropped.
    party: Party<Secp256k1>,
    data: SignData,
    peer: u8,
    stage: Stage,
}

impl Sign {
    /// A session of `party` with `peer`, equal at both in session id (32 bytes, fresh), path and digest (32 bytes).
    ///
    /// `share` is what key generation gave this party; `path` is the child to sign with, such as `m/60/0`, or `m`.
    ///
    /// # Errors
    /// An argument is out of range, or the share is damaged or another party's.
    pub fn new(
        session_id: &[u8],
        party: u8,
        peer: u8,
        share: &[u8],
        path: &str,
        digest: &[u8],
    ) -> Result<Self, ProtocolError> {
        let (own, peer_index) = (party_index(party)?, party_index(peer)?);
        if own == peer_index {
            return Err(ProtocolError::argument("a party cannot sign with itself"));
        }
        if session_id.len() != 32 {
            return Err(ProtocolError::argument("session id must have 32 bytes"));
        }
        let message_hash = digest.try_into().map_err(|_| ProtocolError::argument("digest must have 32 bytes"))?;
        let data = SignData { sign_id: session_id.to_vec(), counterparties: vec![peer_index], message_hash };
        let children = path::parse(path)?;

        let mut party: Party<Secp256k1> =
            decode(Tag::EcdsaShareV1, share).ok_or_else(|| ProtocolError::argument("share is damaged"))?;
        if party.party_index != own {
            return Err(ProtocolError::argument("share is another party's"));
        }
        if (party.parameters.threshold, party.parameters.share_count) != (THRESHOLD, PARTIES) {
            return Err(ProtocolError::argument("share is not of a two-of-three key"));
        }
        // Moves the share in place: the library's own function would copy 100 KB of pairwise state at every level.
        for child in children {
            party.derivation_data = party
                .derivation_data
                .derive_child(child)
                .map_err(|_| ProtocolError::argument("BIP-32 has no child at this path"))?;
        }
        party.poly_point = party.derivation_data.poly_point;
        party.pk = party.derivation_data.pk;

        Ok(Self { party, data, peer, stage: Stage::Start })
    }

    /// The other party of the session.
    pub fn peers(&self) -> Vec<u8> {
        vec![self.peer]
    }

    /// The message of round 1.
    ///
    /// # Errors
    /// The session was started before, or the share is damaged.
    pub fn start(&mut self) -> Result<Messages, ProtocolError> {
        let Stage::Start = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Err(out_of_order());
        };
        let (unique, kept, transmit) = self.party.sign_phase1(&self.data)?;
        self.stage = Stage::First(unique, kept);
        Ok(self.to_peer(Tag::SignFirst, single(&transmit)?))
    }

    /// Takes the peer's message and ends the round.
    ///
    /// # Errors
    /// Any error ends the session. [`crate::error::Code::Ban`] must be stored durably before anything else is done.
    pub fn advance(&mut self, incoming: Messages) -> Result<Step<Signature>, ProtocolError> {
        let peer = self.peer;
        let message = incoming.get(&peer).ok_or_else(|| ProtocolError::message(peer, "message is missing"))?;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::First(unique, kept) => {
                let received: TransmitPhase1to2 = decode_message(Tag::SignFirst, peer, message)?;
                let (unique, kept, transmit) = self.party.sign_phase2(&self.data, unique, kept, &[received])?;
                self.stage = Stage::Second(unique, kept);
                Ok(Step::Send(self.to_peer(Tag::SignSecond, single(&transmit)?)))
            }
            Stage::Second(unique, kept) => {
                let received: TransmitPhase2to3<Secp256k1> = decode_message(Tag::SignSecond, peer, message)?;
                let (r, own) = self.party.sign_phase3(&self.data, unique, kept, &[received])?;
                let messages = self.to_peer(Tag::SignThird, &own);
                self.stage = Stage::Third { r, own };
                Ok(Step::Send(messages))
            }
            Stage::Third { r, own } => {
                let received: Broadcast3to4<Secp256k1> = decode_message(Tag::SignThird, peer, message)?;
                let (s, recovery_id) = self.party.sign_phase4(&self.data, &r, &[own, received], true)?;
                Ok(Step::Done(Signature { r: scalar_bytes(&r)?, s: scalar_bytes(&s)?, recovery_id }))
            }
            Stage::Start | Stage::Over => Err(out_of_order()),
        }
    }

    fn to_peer<T: serde::Serialize>(&self, tag: Tag, message: &T) -> Messages {
        Messages::from([(self.peer, encode(tag, message))])
    }
}

/// The only message of a list: a session has one counterparty.
fn single<T>(messages: &[T]) -> Result<&T, ProtocolError> {
    match messages {
        [message] => Ok(message),
        _ => Err(ProtocolError::aborted(None, "one message expected for one counterparty")),
    }
}

/// The library hands scalars out in hexadecimal.
fn scalar_bytes(hexadecimal: &str) -> Result<[u8; 32], ProtocolError> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(hexadecimal, &mut bytes)
        .map_err(|_| ProtocolError::aborted(None, "signature is not hexadecimal"))?;
    Ok(bytes)
}

fn out_of_order() -> ProtocolError {
    ProtocolError::argument("session is over, not yet started or started twice")
}
