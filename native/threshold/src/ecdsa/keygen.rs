//! Key generation without a dealer: Protocol 9.1 of <https://eprint.iacr.org/2023/602>, with the setup signing needs.
//!
//! Four rounds. (1) Fragments of each party's secret polynomial, privately. (2) Commitments to the proof of one's share, to
//! one's part of the chain code and to pairwise seeds. (3) Only after all commitments have arrived: what was committed, and
//! the setup of pairwise multiplication. (4) A hash of everything that was broadcast in 2 and 3 and of the resulting key.
//! Round 4 is the echo that turns point-to-point messages into a broadcast: a party that sent its peers different things, or
//! a party that came to a different key, is found before anyone keeps a share.
//!
//! The chain code is the XOR of the three parts: one honest party makes it unpredictable, since nobody can choose a part
//! after seeing another's.

use super::{party_index, Step, PARTIES, THRESHOLD};
use crate::error::ProtocolError;
use crate::inbox::Messages;
use crate::wire::{decode_message, encode, Tag};
use dkls23_core::protocols::derivation::ChainCode;
use dkls23_core::protocols::dkg::{
    BroadcastDerivationPhase2to4, BroadcastDerivationPhase3to4, ProofCommitment, TransmitInitMulPhase3to4,
    TransmitInitZeroSharePhase2to4, TransmitInitZeroSharePhase3to4,
};
use dkls23_core::protocols::{Parameters, PartiesMessage, Party, PartyIndex};
use dkls23_core::utilities::hashes::{tagged_hash, HashOutput};
use dkls23_core::utilities::proofs::DLogProof;
use dkls23_core::DkgSession;
use k256::elliptic_curve::group::GroupEncoding;
use k256::{Scalar, Secp256k1};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zeroize::{Zeroize, Zeroizing};

/// Message rounds of key generation.
pub const KEYGEN_ROUNDS: u8 = 4;
const TRANSCRIPT_TAG: &[u8] = b"threshold/ecdsa/keygen/transcript/v1";

/// What one party has at the end.
pub struct Key {
    /// Group public key, SEC1 compressed.
    pub public_key: [u8; 33],
    /// BIP-32 chain code of the group key, equal at all parties.
    pub chain_code: ChainCode,
    /// The party's secret share, encoded.
    pub share: Vec<u8>,
}

impl Drop for Key {
    fn drop(&mut self) {
        self.share.zeroize();
    }
}

/// Broadcast half of round 2.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Commitments {
    pub(super) proof: HashOutput,
    pub(super) chain_code: HashOutput,
}

/// Round 2: the broadcast, and the recipient's own part.
#[derive(Serialize, Deserialize)]
pub(super) struct CommitmentsMessage {
    pub(super) broadcast: Commitments,
    pub(super) zero_share: HashOutput,
}

/// Broadcast half of round 3: opens [`Commitments`].
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Openings {
    pub(super) proof: DLogProof<Secp256k1>,
    pub(super) chain_code: ChainCode,
    pub(super) chain_code_salt: Vec<u8>,
}

/// Round 3: the broadcast, and the recipient's own part.
#[derive(Serialize, Deserialize)]
pub(super) struct OpeningsMessage {
    pub(super) broadcast: Openings,
    pub(super) zero_share_seed: [u8; 32],
    pub(super) zero_share_salt: Vec<u8>,
    pub(super) multiplication: TransmitInitMulPhase3to4<Secp256k1>,
}

/// What this session waits for.
enum Stage {
    Start,
    Fragments {
        own: Scalar,
    },
    Commitments {
        own: Commitments,
        openings: ProofCommitment<Secp256k1>,
    },
    Openings {
        commitments: BTreeMap<u8, Commitments>,
        zero_shares: Vec<TransmitInitZeroSharePhase2to4>,
        own: Openings,
    },
    Confirmations {
        transcript: HashOutput,
        key: Key,
    },
    /// Finished or failed: a session is never continued after an error.
    Over,
}

/// One party's session of key generation.
pub struct Keygen {
    party: PartyIndex,
    session_id: Vec<u8>,
    /// Taken by the last phase, which consumes it; wiped when dropped.
    dkg: Option<DkgSession<Secp256k1>>,
    stage: Stage,
}

impl Keygen {
    /// A session of `party`; the session id has 32 bytes, is fresh and equal at all parties.
    ///
    /// # Errors
    /// An argument is out of range.
    pub fn new(party: u8, session_id: &[u8]) -> Result<Self, ProtocolError> {
        let party = party_index(party)?;
        if session_id.len() != 32 {
            return Err(ProtocolError::argument("session id must have 32 bytes"));
        }
        let parameters = Parameters { threshold: THRESHOLD, share_count: PARTIES };
        Ok(Self {
            party,
            session_id: session_id.to_vec(),
            dkg: Some(DkgSession::new(parameters, party, session_id.to_vec())),
            stage: Stage::Start,
        })
    }

    /// The other two parties.
    pub fn peers(&self) -> Vec<u8> {
        (1..=PARTIES).filter(|party| *party != self.party.as_u8()).collect()
    }

    /// The messages of round 1.
    ///
    /// # Errors
    /// The session was started before.
    pub fn start(&mut self) -> Result<Messages, ProtocolError> {
        let Stage::Start = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Err(out_of_order());
        };
        let fragments = Zeroizing::new(self.dkg()?.phase1());
        let fragment_of = |party: u8| fragments[usize::from(party) - 1];
        self.stage = Stage::Fragments { own: fragment_of(self.party.as_u8()) };
        Ok(self.peers().into_iter().map(|to| (to, encode(Tag::KeygenFragment, &fragment_of(to)))).collect())
    }

    /// Takes one message of every peer and ends the round.
    ///
    /// # Errors
    /// Any error ends the session; nothing of it may be kept.
    pub fn advance(&mut self, incoming: Messages) -> Result<Step<Key>, ProtocolError> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Fragments { own } => self.commit(own, incoming),
            Stage::Commitments { own, openings } => self.open(own, openings, incoming),
            Stage::Openings { commitments, zero_shares, own } => self.finish(commitments, zero_shares, own, incoming),
            Stage::Confirmations { transcript, key } => confirm(&transcript, key, incoming),
            Stage::Start | Stage::Over => Err(out_of_order()),
        }
    }

    fn dkg(&mut self) -> Result<&mut DkgSession<Secp256k1>, ProtocolError> {
        self.dkg.as_mut().ok_or_else(out_of_order)
    }

    fn commit(&mut self, own: Scalar, incoming: Messages) -> Result<Step<Key>, ProtocolError> {
        let mut fragments = Zeroizing::new(vec![own]);
        for (from, message) in &incoming {
            fragments.push(decode_message::<Scalar>(Tag::KeygenFragment, *from, message)?);
        }
        let (openings, zero_shares, chain_code) = self.dkg()?.phase2(&fragments)?;
        let own = Commitments { proof: openings.commitment, chain_code: chain_code.cc_commitment };
        let messages = zero_shares
            .into_iter()
            .map(|zero_share| {
                let message = CommitmentsMessage { broadcast: own.clone(), zero_share: zero_share.commitment };
                (zero_share.parties.receiver.as_u8(), encode(Tag::KeygenCommitments, &message))
            })
            .collect();
        self.stage = Stage::Commitments { own, openings };
        Ok(Step::Send(messages))
    }

    fn open(
        &mut self,
        own: Commitments,
        openings: ProofCommitment<Secp256k1>,
        incoming: Messages,
    ) -> Result<Step<Key>, ProtocolError> {
        let mut commitments = BTreeMap::from([(self.party.as_u8(), own)]);
        let mut zero_shares = Vec::new();
        for (from, message) in &incoming {
            let message: CommitmentsMessage = decode_message(Tag::KeygenCommitments, *from, message)?;
            // A copied commitment could later be opened with a copied proof.
            if commitments.values().any(|other| other.proof == message.broadcast.proof) {
                return Err(ProtocolError::aborted(Some(*from), "commitment repeats another party's"));
            }
            commitments.insert(*from, message.broadcast);
            zero_shares
                .push(TransmitInitZeroSharePhase2to4 { parties: self.from(*from)?, commitment: message.zero_share });
        }

        let (seeds, multiplications, chain_code) = self.dkg()?.phase3()?;
        let own = Openings {
            proof: openings.proof,
            chain_code: chain_code.aux_chain_code,
            chain_code_salt: chain_code.cc_salt,
        };
        // Both lists hold one entry a peer, in the order of the parties.
        let messages = seeds
            .into_iter()
            .zip(multiplications)
            .map(|(zero_share, multiplication)| {
                let to = zero_share.parties.receiver.as_u8();
                let message = OpeningsMessage {
                    broadcast: own.clone(),
                    zero_share_seed: zero_share.seed,
                    zero_share_salt: zero_share.salt,
                    multiplication,
                };
                (to, encode(Tag::KeygenOpenings, &message))
            })
            .collect();
        self.stage = Stage::Openings { commitments, zero_shares, own };
        Ok(Step::Send(messages))
    }

    fn finish(
        &mut self,
        commitments: BTreeMap<u8, Commitments>,
        zero_shares: Vec<TransmitInitZeroSharePhase2to4>,
        own: Openings,
        incoming: Messages,
    ) -> Result<Step<Key>, ProtocolError> {
        let mut openings = BTreeMap::from([(self.party.as_u8(), own)]);
        let mut seeds = Vec::new();
        let mut multiplications = Vec::new();
        for (from, message) in &incoming {
            let message: OpeningsMessage = decode_message(Tag::KeygenOpenings, *from, message)?;
            let parties = self.from(*from)?;
            if message.multiplication.parties.sender != parties.sender
                || message.multiplication.parties.receiver != parties.receiver
            {
                return Err(ProtocolError::message(*from, "message names other parties"));
            }
            openings.insert(*from, message.broadcast);
            seeds.push(TransmitInitZeroSharePhase3to4 {
                parties,
                seed: message.zero_share_seed,
                salt: message.zero_share_salt,
            });
            multiplications.push(message.multiplication);
        }

        let mut proofs = Vec::new();
        let mut chain_code_commitments = BTreeMap::new();
        let mut chain_code_openings = BTreeMap::new();
        for (party, commitment) in &commitments {
            let index = party_index(*party)?;
            let opening = &openings[party];
            proofs.push(ProofCommitment { index, proof: opening.proof.clone(), commitment: commitment.proof });
            chain_code_commitments.insert(
                index,
                BroadcastDerivationPhase2to4 { sender_index: index, cc_commitment: commitment.chain_code },
            );
            chain_code_openings.insert(
                index,
                BroadcastDerivationPhase3to4 {
                    sender_index: index,
                    aux_chain_code: opening.chain_code,
                    cc_salt: opening.chain_code_salt.clone(),
                },
            );
        }
        let dkg = self.dkg.take().ok_or_else(out_of_order)?;
        let (party, _) = dkg.phase4(
            &proofs,
            &zero_shares,
            &seeds,
            &multiplications,
            &chain_code_commitments,
            &chain_code_openings,
            |_| String::new(),
        )?;

        let key = key_of(&party);
        let broadcasts: Vec<Vec<u8>> = commitments
            .iter()
            .map(|(party, commitment)| {
                postcard::to_allocvec(&(party, commitment, &openings[party])).expect("types sent are encodable")
            })
            .collect();
        let mut components: Vec<&[u8]> = vec![&self.session_id, &key.public_key, &key.chain_code];
        components.extend(broadcasts.iter().map(Vec::as_slice));
        let transcript = tagged_hash(TRANSCRIPT_TAG, &components);
        let messages = self.peers().into_iter().map(|to| (to, encode(Tag::KeygenConfirmation, &transcript))).collect();
        self.stage = Stage::Confirmations { transcript, key };
        Ok(Step::Send(messages))
    }

    /// Sender and recipient of a message to us.
    fn from(&self, sender: u8) -> Result<PartiesMessage, ProtocolError> {
        Ok(PartiesMessage { sender: party_index(sender)?, receiver: self.party })
    }
}

fn confirm(transcript: &HashOutput, key: Key, incoming: Messages) -> Result<Step<Key>, ProtocolError> {
    for (from, message) in &incoming {
        let theirs: HashOutput = decode_message(Tag::KeygenConfirmation, *from, message)?;
        if theirs != *transcript {
            // Either of the three may have said different things to the other two: nobody can be blamed.
            return Err(ProtocolError::aborted(None, "parties saw different broadcasts"));
        }
    }
    Ok(Step::Done(key))
}

fn key_of(party: &Party<Secp256k1>) -> Key {
    Key {
        public_key: party.pk.to_bytes().into(),
        chain_code: *party.chain_code(),
        share: encode(Tag::EcdsaShareV1, party),
    }
}

fn out_of_order() -> ProtocolError {
    ProtocolError::argument("session is over, not yet started or started twice")
}
