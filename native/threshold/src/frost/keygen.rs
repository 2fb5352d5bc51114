//! Key generation without a dealer, after figure 1 of the FROST paper.
//!
//! Four rounds. (1) A hash of each party's package: the commitments to its secret polynomial and the proof that it knows it. (2) Only
//! after all hashes have arrived: the packages, so that nobody chooses its part after seeing another's. (3) Each party's value of the
//! polynomial at the others, privately. (4) A hash of all packages and of the resulting key. Round 4 is the echo that turns
//! point-to-point messages into a broadcast: a party that sent its peers different things, or a party that came to a different key, is
//! found before anyone keeps a share.

use super::random::HostRandom;
use super::{aborted, encoded, hash, identifier, out_of_order, share, Encoded, PARTIES, THRESHOLD};
use crate::error::ProtocolError;
use crate::inbox::{Messages, Step};
use crate::wire::{decode_message, encode, Tag};
use frost_ed25519::keys::dkg::{self, round1, round2};
use frost_ed25519::keys::{SigningShare, VerifiableSecretSharingCommitment};
use frost_ed25519::{Error, Identifier, Signature};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zeroize::Zeroize;

/// Message rounds of key generation.
pub const KEYGEN_ROUNDS: u8 = 4;
const PACKAGE_DOMAIN: &[u8] = b"threshold/frost-ed25519/keygen/package/v1";
const TRANSCRIPT_DOMAIN: &[u8] = b"threshold/frost-ed25519/keygen/transcript/v1";

/// What one party has at the end.
pub struct Key {
    /// Group public key, as Ed25519 encodes it (RFC 8032).
    pub public_key: [u8; 32],
    /// The party's secret share, encoded.
    pub share: Vec<u8>,
}

impl Drop for Key {
    fn drop(&mut self) {
        self.share.zeroize();
    }
}

/// Round 2: the library's package of its first part.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct PackageMessage {
    pub(super) coefficients: [Encoded; THRESHOLD as usize],
    /// Proof of knowledge of the first coefficient: R and z.
    pub(super) proof: [Encoded; 2],
}

/// Round 3: the sender's polynomial at the recipient.
#[derive(Serialize, Deserialize)]
struct ShareMessage {
    value: Encoded,
}

impl Drop for ShareMessage {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// What this session waits for.
enum Stage {
    Start,
    Commitments {
        secret: round1::SecretPackage,
        own: PackageMessage,
    },
    Packages {
        secret: round1::SecretPackage,
        own: PackageMessage,
        commitments: BTreeMap<u8, [u8; 32]>,
    },
    Shares {
        secret: round2::SecretPackage,
        packages: BTreeMap<Identifier, round1::Package>,
        /// As sent, all parties'.
        messages: BTreeMap<u8, PackageMessage>,
    },
    Confirmations {
        transcript: [u8; 32],
        key: Key,
    },
    /// Finished or failed: a session is never continued after an error.
    Over,
}

/// One party's session of key generation.
pub struct Keygen {
    party: u8,
    session_id: [u8; 32],
    stage: Stage,
}

impl Keygen {
    /// A session of `party`; the session id has 32 bytes, is fresh and equal at all parties.
    ///
    /// # Errors
    /// An argument is out of range.
    pub fn new(party: u8, session_id: &[u8]) -> Result<Self, ProtocolError> {
        identifier(party)?;
        let session_id = session_id.try_into().map_err(|_| ProtocolError::argument("session id must have 32 bytes"))?;
        Ok(Self { party, session_id, stage: Stage::Start })
    }

    /// The other two parties.
    pub fn peers(&self) -> Vec<u8> {
        (1..=PARTIES).filter(|party| *party != self.party).collect()
    }

    /// The messages of round 1.
    ///
    /// # Errors
    /// The session was started before.
    pub fn start(&mut self) -> Result<Messages, ProtocolError> {
        let Stage::Start = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Err(out_of_order());
        };
        let own = identifier(self.party)?;
        let (secret, package) =
            dkg::part1(own, PARTIES.into(), THRESHOLD.into(), HostRandom).map_err(|it| self.failed(&it))?;
        let own = to_message(&package).map_err(|it| self.failed(&it))?;
        let messages = self.to_all(Tag::FrostKeygenCommitment, &self.commitment(self.party, &own));
        self.stage = Stage::Commitments { secret, own };
        Ok(messages)
    }

    /// Takes one message of every peer and ends the round.
    ///
    /// # Errors
    /// Any error ends the session; nothing of it may be kept.
    pub fn advance(&mut self, incoming: Messages) -> Result<Step<Key>, ProtocolError> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Commitments { secret, own } => self.reveal(secret, own, &incoming),
            Stage::Packages { secret, own, commitments } => self.distribute(secret, own, &commitments, &incoming),
            Stage::Shares { secret, packages, messages } => self.finish(&secret, &packages, &messages, &incoming),
            Stage::Confirmations { transcript, key } => confirm(&transcript, key, &incoming),
            Stage::Start | Stage::Over => Err(out_of_order()),
        }
    }

    fn reveal(
        &mut self,
        secret: round1::SecretPackage,
        own: PackageMessage,
        incoming: &Messages,
    ) -> Result<Step<Key>, ProtocolError> {
        let mut commitments = BTreeMap::new();
        for (from, message) in incoming {
            commitments.insert(*from, decode_message(Tag::FrostKeygenCommitment, *from, message)?);
        }
        let messages = self.to_all(Tag::FrostKeygenPackage, &own);
        self.stage = Stage::Packages { secret, own, commitments };
        Ok(Step::Send(messages))
    }

    fn distribute(
        &mut self,
        secret: round1::SecretPackage,
        own: PackageMessage,
        commitments: &BTreeMap<u8, [u8; 32]>,
        incoming: &Messages,
    ) -> Result<Step<Key>, ProtocolError> {
        let mut messages = BTreeMap::from([(self.party, own)]);
        let mut packages = BTreeMap::new();
        for (from, message) in incoming {
            let message: PackageMessage = decode_message(Tag::FrostKeygenPackage, *from, message)?;
            if commitments.get(from) != Some(&self.commitment(*from, &message)) {
                return Err(ProtocolError::aborted(Some(*from), "package is not the one that was committed to"));
            }
            let package = to_package(&message)
                .map_err(|_| ProtocolError::message(*from, "package has no valid points and scalars"))?;
            packages.insert(identifier(*from)?, package);
            messages.insert(*from, message);
        }
        let (secret, shares) = dkg::part2(secret, &packages).map_err(|it| self.failed(&it))?;
        let mut outgoing = Messages::new();
        for to in self.peers() {
            let share = shares.get(&identifier(to)?).ok_or_else(out_of_order)?;
            let mut value = share.signing_share().serialize();
            outgoing.insert(to, encode(Tag::FrostKeygenShare, &ShareMessage { value: encoded(&value) }));
            value.zeroize();
        }
        self.stage = Stage::Shares { secret, packages, messages };
        Ok(Step::Send(outgoing))
    }

    fn finish(
        &mut self,
        secret: &round2::SecretPackage,
        packages: &BTreeMap<Identifier, round1::Package>,
        messages: &BTreeMap<u8, PackageMessage>,
        incoming: &Messages,
    ) -> Result<Step<Key>, ProtocolError> {
        let mut shares = BTreeMap::new();
        for (from, message) in incoming {
            let message: ShareMessage = decode_message(Tag::FrostKeygenShare, *from, message)?;
            let share = SigningShare::deserialize(&message.value)
                .map_err(|_| ProtocolError::message(*from, "share is no scalar"))?;
            shares.insert(identifier(*from)?, round2::Package::new(share));
        }
        let (own, public) = dkg::part3(secret, packages, &shares).map_err(|it| self.failed(&it))?;
        let public_key = encoded(&public.verifying_key().serialize().map_err(|it| self.failed(&it))?);
        let key = Key { public_key, share: share::store(self.party, &own, &public).map_err(|it| self.failed(&it))? };

        let packages = postcard::to_allocvec(messages).expect("types sent are encodable");
        let transcript = hash(TRANSCRIPT_DOMAIN, &[&self.session_id, &packages, &public_key]);
        let messages = self.to_all(Tag::FrostKeygenConfirmation, &transcript);
        self.stage = Stage::Confirmations { transcript, key };
        Ok(Step::Send(messages))
    }

    /// Of one party in this session: a package of another session or another party has another one.
    fn commitment(&self, party: u8, package: &PackageMessage) -> [u8; 32] {
        let bytes = postcard::to_allocvec(package).expect("types sent are encodable");
        hash(PACKAGE_DOMAIN, &[&self.session_id, &[party], &bytes])
    }

    fn to_all<T: Serialize>(&self, tag: Tag, message: &T) -> Messages {
        self.peers().into_iter().map(|to| (to, encode(tag, message))).collect()
    }

    fn failed(&self, error: &Error) -> ProtocolError {
        aborted(self.party, error)
    }
}

fn confirm(transcript: &[u8; 32], key: Key, incoming: &Messages) -> Result<Step<Key>, ProtocolError> {
    for (from, message) in incoming {
        let theirs: [u8; 32] = decode_message(Tag::FrostKeygenConfirmation, *from, message)?;
        if theirs != *transcript {
            // Either of the three may have said different things to the other two: nobody can be blamed.
            return Err(ProtocolError::aborted(None, "parties saw different broadcasts"));
        }
    }
    Ok(Step::Done(key))
}

fn to_message(package: &round1::Package) -> Result<PackageMessage, Error> {
    let proof = package.proof_of_knowledge().serialize()?;
    let coefficients = package.commitment().serialize()?;
    Ok(PackageMessage {
        coefficients: std::array::from_fn(|index| encoded(&coefficients[index])),
        proof: [encoded(&proof[..32]), encoded(&proof[32..])],
    })
}

fn to_package(message: &PackageMessage) -> Result<round1::Package, Error> {
    let commitment = VerifiableSecretSharingCommitment::deserialize(message.coefficients)?;
    Ok(round1::Package::new(commitment, Signature::deserialize(&message.proof.concat())?))
}

#[cfg(test)]
use frost_ed25519::rand_core::{CryptoRng, RngCore};

#[cfg(test)]
impl Keygen {
    /// As `start`, of secrets that are made of given bytes: vectors name theirs.
    pub(super) fn start_with(&mut self, random: impl RngCore + CryptoRng) -> Result<Messages, ProtocolError> {
        let (secret, package) = dkg::part1(identifier(self.party)?, PARTIES.into(), THRESHOLD.into(), random)
            .map_err(|it| self.failed(&it))?;
        let own = to_message(&package).map_err(|it| self.failed(&it))?;
        let messages = self.to_all(Tag::FrostKeygenCommitment, &self.commitment(self.party, &own));
        self.stage = Stage::Commitments { secret, own };
        Ok(messages)
    }
}
