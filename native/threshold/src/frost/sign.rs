//! Signing by two parties, two rounds, each party its own coordinator (RFC 9591, section 5).
//!
//! The message is fixed when the session is made: there are no presignatures. Nonces are made when the session starts, live in this
//! value only, are dropped and wiped by the round that uses them, and cannot be encoded: the library is built without its
//! serialisation. Everything sent names its session by a hash of session id, key, message and parties, so that nothing of another
//! session is taken, whoever sends it.

use super::random::HostRandom;
use super::{aborted, encoded, hash, identifier, out_of_order, share, share::Share, Encoded};
use crate::error::ProtocolError;
use crate::inbox::{Messages, Step};
use crate::wire::{decode_message, encode, Tag};
use frost_ed25519::rand_core::{CryptoRng, RngCore};
use frost_ed25519::round1::{self, NonceCommitment, SigningCommitments, SigningNonces};
use frost_ed25519::round2::{self, SignatureShare};
use frost_ed25519::{aggregate, Error, SigningPackage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Message rounds of signing.
pub const SIGN_ROUNDS: u8 = 2;
/// Longest message that is signed, bytes.
pub const MAX_SIGNED_BYTES: usize = 64 * 1024;
const SESSION_DOMAIN: &[u8] = b"threshold/frost-ed25519/sign/session/v1";
const ROUND_DOMAIN: &[u8] = b"threshold/frost-ed25519/sign/commitments/v1";

/// Round 1: commitments to the sender's two nonces.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommitmentsMessage {
    /// Hash of what is signed in which session.
    pub(super) session: [u8; 32],
    pub(super) hiding: Encoded,
    pub(super) binding: Encoded,
}

/// Round 2: the sender's share of the signature.
#[derive(Serialize, Deserialize)]
pub(super) struct ShareMessage {
    /// Hash of both messages of round 1, as the sender saw them.
    pub(super) commitments: [u8; 32],
    pub(super) share: Encoded,
}

/// What this session waits for.
enum Stage {
    Start,
    Commitments {
        /// Boxed, so that moving the stage leaves no copy.
        nonces: Box<SigningNonces>,
        own: CommitmentsMessage,
    },
    Share {
        package: SigningPackage,
        commitments: [u8; 32],
        own: SignatureShare,
    },
    /// Finished or failed: a session is never continued after an error.
    Over,
}

/// One party's signing session.
pub struct Sign {
    /// Wiped when dropped.
    share: Share,
    session: [u8; 32],
    message: Vec<u8>,
    party: u8,
    peer: u8,
    stage: Stage,
}

impl Sign {
    /// A session of `party` with `peer`, equal at both in session id (32 bytes, fresh) and message (1 to 65,536 bytes).
    ///
    /// `share` is what key generation gave this party.
    ///
    /// # Errors
    /// An argument is out of range, or the share is damaged or another party's.
    pub fn new(session_id: &[u8], party: u8, peer: u8, share: &[u8], message: &[u8]) -> Result<Self, ProtocolError> {
        identifier(party)?;
        identifier(peer)?;
        if party == peer {
            return Err(ProtocolError::argument("a party cannot sign with itself"));
        }
        if session_id.len() != 32 {
            return Err(ProtocolError::argument("session id must have 32 bytes"));
        }
        if message.is_empty() || message.len() > MAX_SIGNED_BYTES {
            return Err(ProtocolError::argument("message is empty or too long"));
        }
        let share = share::load(party, share)?;
        let parties = [party.min(peer), party.max(peer)];
        let session = hash(SESSION_DOMAIN, &[session_id, &share.group, message, &parties]);
        Ok(Self { share, session, message: message.to_vec(), party, peer, stage: Stage::Start })
    }

    /// The other party of the session.
    pub fn peers(&self) -> Vec<u8> {
        vec![self.peer]
    }

    /// The message of round 1.
    ///
    /// # Errors
    /// The session was started before.
    pub fn start(&mut self) -> Result<Messages, ProtocolError> {
        self.start_with(&mut HostRandom)
    }

    pub(super) fn start_with(&mut self, random: &mut (impl RngCore + CryptoRng)) -> Result<Messages, ProtocolError> {
        let Stage::Start = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Err(out_of_order());
        };
        let (nonces, commitments) = round1::commit(self.share.key.signing_share(), random);
        let own = self.commitments_message(&commitments).map_err(|it| aborted(self.party, &it))?;
        self.stage = Stage::Commitments { nonces: Box::new(nonces), own };
        Ok(self.to_peer(Tag::FrostSignCommitments, &own))
    }

    /// Takes the peer's message and ends the round. The result is the signature, 64 bytes (RFC 8032), verified.
    ///
    /// # Errors
    /// Any error ends the session. A peer whose share of the signature is not the one of its key is the culprit.
    pub fn advance(&mut self, incoming: Messages) -> Result<Step<[u8; 64]>, ProtocolError> {
        let peer = self.peer;
        let message = incoming.get(&peer).ok_or_else(|| ProtocolError::message(peer, "message is missing"))?;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Commitments { nonces, own } => self.respond(&nonces, own, message),
            Stage::Share { package, commitments, own } => self.finish(&package, &commitments, own, message),
            Stage::Start | Stage::Over => Err(out_of_order()),
        }
    }

    fn respond(
        &mut self,
        nonces: &SigningNonces,
        own: CommitmentsMessage,
        message: &[u8],
    ) -> Result<Step<[u8; 64]>, ProtocolError> {
        let peer = self.peer;
        let theirs: CommitmentsMessage = decode_message(Tag::FrostSignCommitments, peer, message)?;
        if theirs.session != self.session {
            return Err(ProtocolError::message(peer, "commitments are of another session"));
        }
        if theirs == own {
            return Err(ProtocolError::message(peer, "commitments repeat this party's"));
        }
        let parsed = to_commitments(&theirs)
            .map_err(|_| ProtocolError::message(peer, "commitments are no points of the group"))?;
        let both = BTreeMap::from([(identifier(self.party)?, *nonces.commitments()), (identifier(peer)?, parsed)]);
        let package = SigningPackage::new(both, &self.message);
        let share = round2::sign(&package, nonces, &self.share.key).map_err(|it| aborted(self.party, &it))?;

        let seen = BTreeMap::from([(self.party, own), (peer, theirs)]);
        let bytes = postcard::to_allocvec(&seen).expect("types sent are encodable");
        let commitments = hash(ROUND_DOMAIN, &[&bytes]);
        let answer = ShareMessage { commitments, share: encoded(&share.serialize()) };
        self.stage = Stage::Share { package, commitments, own: share };
        Ok(Step::Send(self.to_peer(Tag::FrostSignShare, &answer)))
    }

    fn finish(
        &mut self,
        package: &SigningPackage,
        commitments: &[u8; 32],
        own: SignatureShare,
        message: &[u8],
    ) -> Result<Step<[u8; 64]>, ProtocolError> {
        let peer = self.peer;
        let theirs: ShareMessage = decode_message(Tag::FrostSignShare, peer, message)?;
        if theirs.commitments != *commitments {
            return Err(ProtocolError::message(peer, "share is for other commitments"));
        }
        let share = SignatureShare::deserialize(&theirs.share)
            .map_err(|_| ProtocolError::message(peer, "share is no scalar"))?;
        let shares = BTreeMap::from([(identifier(self.party)?, own), (identifier(peer)?, share)]);
        let signature = aggregate(package, &shares, &self.share.public).map_err(|it| aborted(self.party, &it))?;
        let bytes = signature.serialize().map_err(|it| aborted(self.party, &it))?;
        Ok(Step::Done(bytes.try_into().expect("a signature has 64 bytes")))
    }

    fn commitments_message(&self, commitments: &SigningCommitments) -> Result<CommitmentsMessage, Error> {
        Ok(CommitmentsMessage {
            session: self.session,
            hiding: encoded(&commitments.hiding().serialize()?),
            binding: encoded(&commitments.binding().serialize()?),
        })
    }

    fn to_peer<T: Serialize>(&self, tag: Tag, message: &T) -> Messages {
        Messages::from([(self.peer, encode(tag, message))])
    }
}

/// The identity is none: the library refuses it.
fn to_commitments(message: &CommitmentsMessage) -> Result<SigningCommitments, Error> {
    let hiding = NonceCommitment::deserialize(&message.hiding)?;
    Ok(SigningCommitments::new(hiding, NonceCommitment::deserialize(&message.binding)?))
}
