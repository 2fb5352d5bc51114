//! The vectors that frost-ed25519 3.0.0 publishes (its tests/helpers; what is in vectors.json stands in RFC 9591, appendix E.1): by sessions of
//! this crate as far as they are two of three parties, and all of them by the library as it is built here, without its default features.

use super::{inbox, only, session_id};
use crate::frost::keygen::PackageMessage;
use crate::frost::sign::{CommitmentsMessage, ShareMessage};
use crate::frost::{identifier, share, Keygen, Sign, PARTIES, THRESHOLD};
use crate::inbox::{Messages, Step};
use crate::wire::{decode, Tag};
use frost_ed25519::keys::{split, IdentifierList, KeyPackage, PublicKeyPackage, SecretShare, SigningShare, VerifyingShare};
use frost_ed25519::rand_core::{CryptoRng, Error, RngCore};
use frost_ed25519::round1::{commit, SigningCommitments, SigningNonces};
use frost_ed25519::{aggregate, round2, Ed25519ScalarField, Ed25519Sha512, Identifier, SigningKey, SigningPackage, VerifyingKey};
use frost_ed25519::{Ciphersuite, Field};
use serde_json::Value;
use std::collections::BTreeMap;

const TWO_OF_THREE: &str = include_str!("../../../vectors/vectors.json");
/// Parties 129, 256 and 257 of 257.
const BIG_IDENTIFIERS: &str = include_str!("../../../vectors/vectors-big-identifier.json");
const KEY_GENERATION: &str = include_str!("../../../vectors/vectors_dkg.json");

/// Hands out the given bytes in the place of random ones.
struct Given(Vec<u8>);

impl RngCore for Given {
    fn next_u32(&mut self) -> u32 {
        unreachable!("nonces and scalars take bytes")
    }

    fn next_u64(&mut self) -> u64 {
        unreachable!("nonces and scalars take bytes")
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        let rest = self.0.split_off(bytes.len());
        bytes.copy_from_slice(&std::mem::replace(&mut self.0, rest));
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for Given {}

/// The random bytes of which the library makes these scalars: it reduces 64 bytes each.
fn scalars(values: &[&[u8]]) -> Given {
    Given(values.iter().flat_map(|value| [*value, &[0; 32]].concat()).collect())
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

fn encoded(value: &Value) -> [u8; 32] {
    super::super::encoded(&bytes(value))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// What stands under a name for each identifier of a list.
fn by_identifier<'a>(values: &'a Value, name: &str) -> BTreeMap<u16, &'a Value> {
    list(values).iter().map(|it| (u16::try_from(it["identifier"].as_u64().unwrap()).unwrap(), &it[name])).collect()
}

/// For both nonces of a party.
fn randomness(party: &Value) -> Given {
    Given([bytes(&party["hiding_nonce_randomness"]), bytes(&party["binding_nonce_randomness"])].concat())
}

#[test]
fn the_vector_of_rfc_9591_results_byte_by_byte() {
    let vectors = parse(TWO_OF_THREE);
    let inputs = &vectors["inputs"];
    let key = VerifyingKey::deserialize(&bytes(&inputs["verifying_key_key"])).unwrap();
    let secrets: BTreeMap<Identifier, SigningShare> = by_identifier(&inputs["participant_shares"], "participant_share")
        .into_iter()
        .map(|(id, it)| (id.try_into().unwrap(), SigningShare::deserialize(&bytes(it)).unwrap()))
        .collect();
    let verifying: BTreeMap<_, _> = secrets.iter().map(|(id, it)| (*id, VerifyingShare::from(*it))).collect();
    let public = PublicKeyPackage::new(verifying.clone(), key, Some(THRESHOLD.into()));
    let session = session_id();
    let open = |party: u8, peer: u8| {
        let id = identifier(party).unwrap();
        let own = KeyPackage::new(id, secrets[&id], verifying[&id], key, THRESHOLD.into());
        let stored = share::store(party, &own, &public).unwrap();
        Sign::new(&session, party, peer, &stored, &bytes(&inputs["message"])).unwrap()
    };

    let (mut one, mut three) = (open(1, 3), open(3, 1));
    let [first, second] = list(&vectors["round_one_outputs"]["outputs"]) else { panic!("two parties sign") };
    let from_one = only(one.start_with(&mut randomness(first)).unwrap());
    let from_three = only(three.start_with(&mut randomness(second)).unwrap());
    for (sent, expected) in [(&from_one, first), (&from_three, second)] {
        let commitments: CommitmentsMessage = decode(Tag::FrostSignCommitments, sent).unwrap();
        assert_eq!(commitments.hiding, encoded(&expected["hiding_nonce_commitment"]));
        assert_eq!(commitments.binding, encoded(&expected["binding_nonce_commitment"]));
    }

    let expected = by_identifier(&vectors["round_two_outputs"]["outputs"], "sig_share");
    let respond = |session: &mut Sign, party: u16, peer: u8, message: Vec<u8>| {
        let Step::Send(answer) = session.advance(Messages::from([(peer, message)])).unwrap() else { panic!("a share") };
        let message = only(answer);
        let share: ShareMessage = decode(Tag::FrostSignShare, &message).unwrap();
        assert_eq!(share.share, encoded(expected[&party]));
        message
    };
    let share_of_one = respond(&mut one, 1, 3, from_three);
    let share_of_three = respond(&mut three, 3, 1, from_one);
    for (session, peer, message) in [(&mut one, 3, share_of_three), (&mut three, 1, share_of_one)] {
        let Step::Done(signature) = session.advance(Messages::from([(peer, message)])).unwrap() else { panic!("done") };
        assert_eq!(signature.to_vec(), bytes(&vectors["final_output"]["sig"]));
    }
}

#[test]
fn the_vectors_of_the_library_result_byte_by_byte() {
    for (text, parties, signers) in [(TWO_OF_THREE, 3, 2), (BIG_IDENTIFIERS, 257, 3)] {
        let vectors = parse(text);
        assert_eq!(check_vectors(&vectors), (parties, signers));
    }
}

/// How many parties there are, and how many of them sign.
fn check_vectors(vectors: &Value) -> (usize, usize) {
    let inputs = &vectors["inputs"];
    let key = SigningKey::deserialize(&bytes(&inputs["group_secret_key"])).unwrap();
    let [coefficient] = list(&inputs["share_polynomial_coefficients"]) else { panic!("two parties are enough") };
    let expected = by_identifier(&inputs["participant_shares"], "participant_share");
    let parties = u16::try_from(expected.len()).unwrap();
    let dealt = scalars(&[&bytes(coefficient)]);
    let (shares, public) = split(&key, parties, 2, IdentifierList::Default, &mut { dealt }).unwrap();
    assert_eq!(public.verifying_key().serialize().unwrap(), bytes(&inputs["verifying_key_key"]));
    for (id, share) in expected {
        assert_eq!(shares[&id.try_into().unwrap()].signing_share().serialize(), bytes(share));
    }

    let mut nonces: BTreeMap<Identifier, SigningNonces> = BTreeMap::new();
    let mut commitments: BTreeMap<Identifier, SigningCommitments> = BTreeMap::new();
    for signer in list(&vectors["round_one_outputs"]["outputs"]) {
        let id = u16::try_from(signer["identifier"].as_u64().unwrap()).unwrap().try_into().unwrap();
        let (secret, sent) = commit(shares[&id].signing_share(), &mut randomness(signer));
        assert_eq!(secret.hiding().serialize(), bytes(&signer["hiding_nonce"]));
        assert_eq!(secret.binding().serialize(), bytes(&signer["binding_nonce"]));
        assert_eq!(sent.hiding().serialize().unwrap(), bytes(&signer["hiding_nonce_commitment"]));
        assert_eq!(sent.binding().serialize().unwrap(), bytes(&signer["binding_nonce_commitment"]));
        nonces.insert(id, secret);
        commitments.insert(id, sent);
    }

    let package = SigningPackage::new(commitments, &bytes(&inputs["message"]));
    let mut signed = BTreeMap::new();
    for (id, expected) in by_identifier(&vectors["round_two_outputs"]["outputs"], "sig_share") {
        let id = id.try_into().unwrap();
        let own = KeyPackage::try_from(SecretShare::clone(&shares[&id])).unwrap();
        let share = round2::sign(&package, &nonces[&id], &own).unwrap();
        assert_eq!(share.serialize(), bytes(expected));
        signed.insert(id, share);
    }
    let signature = aggregate(&package, &signed, &public).unwrap();
    assert_eq!(signature.serialize().unwrap(), bytes(&vectors["final_output"]["sig"]));
    (shares.len(), signed.len())
}

/// Three sessions of this crate, with the secrets of the vectors: the same packages, shares, key and parts of it.
#[test]
fn the_vectors_of_key_generation_result_byte_by_byte() {
    let vectors = parse(KEY_GENERATION);
    let inputs = &vectors["inputs"];
    let of = |party: u8| &inputs[party.to_string()];
    let id = session_id();
    let mut sessions: BTreeMap<u8, Keygen> =
        (1..=PARTIES).map(|party| (party, Keygen::new(party, &id).unwrap())).collect();
    let mut sent: BTreeMap<u8, Messages> = BTreeMap::new();
    for (party, session) in &mut sessions {
        let own = of(*party);
        let random =
            scalars(&[&bytes(&own["signing_key"]), &bytes(&own["coefficient"]), &proof_nonce(*party, own)]);
        sent.insert(*party, session.start_with(random).unwrap());
    }

    sent = advance(&mut sessions, &sent);
    for (from, messages) in &sent {
        for message in messages.values() {
            let package: PackageMessage = decode(Tag::FrostKeygenPackage, message).unwrap();
            assert_eq!(package.coefficients.to_vec(), list(&of(*from)["vss_commitments"]).iter().map(encoded).collect::<Vec<_>>());
            assert_eq!(package.proof.concat(), bytes(&of(*from)["proof_of_knowledge"]));
        }
    }

    sent = advance(&mut sessions, &sent);
    for (from, messages) in &sent {
        for (to, message) in messages {
            // the value stands behind the tag
            assert_eq!(message[1..], bytes(&of(*to)["signing_shares"][from.to_string()]));
        }
    }

    sent = advance(&mut sessions, &sent);
    for (party, session) in &mut sessions {
        let Step::Done(key) = session.advance(inbox(&sent, *party)).unwrap() else { panic!("a key") };
        assert_eq!(key.public_key, encoded(&inputs["verifying_key"]));
        let kept = share::load(*party, &key.share).unwrap();
        assert_eq!(kept.key.signing_share().serialize(), bytes(&of(*party)["signing_share"]));
        for (party, verifying) in (1..=PARTIES).zip(kept.public.verifying_shares().values()) {
            assert_eq!(verifying.serialize().unwrap(), bytes(&of(party)["verifying_share"]));
        }
    }
}

/// What the parties send after a round.
fn advance(sessions: &mut BTreeMap<u8, Keygen>, sent: &BTreeMap<u8, Messages>) -> BTreeMap<u8, Messages> {
    let steps = sessions.iter_mut().map(|(party, session)| match session.advance(inbox(sent, *party)).unwrap() {
        Step::Send(messages) => (*party, messages),
        Step::Done(_) => panic!("nobody has a key yet"),
    });
    steps.collect()
}

/// The nonce with which a party has proven its secret: the vectors have the proof alone, R and z = nonce + challenge × secret.
fn proof_nonce(party: u8, own: &Value) -> [u8; 32] {
    let scalar = |value: &[u8]| Ed25519ScalarField::deserialize(value.try_into().unwrap()).unwrap();
    let proof = bytes(&own["proof_of_knowledge"]);
    let (point, response) = proof.split_at(32);
    let of = identifier(party).unwrap().serialize();
    let challenge = Ed25519Sha512::HDKG(&[&of, bytes(&own["vss_commitments"][0]).as_slice(), point].concat()).unwrap();
    Ed25519ScalarField::serialize(&(scalar(response) - challenge * scalar(&bytes(&own["signing_key"]))))
}
