//! Whole runs of the protocol, and what happens when somebody does not keep to it; published vectors stand in [`vectors`].

mod vectors;

use super::keygen::PackageMessage;
use super::sign::{CommitmentsMessage, ShareMessage};
use super::{Key, Keygen, Sign, MAX_SIGNED_BYTES};
use crate::error::{Code, ProtocolError};
use crate::inbox::{Messages, Step};
use crate::wire::{decode, encode, Tag};
use frost_ed25519::{Signature, VerifyingKey};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

const PAIRS: [(u8, u8); 3] = [(1, 2), (1, 3), (2, 3)];
const MESSAGE: &[u8] = b"what the client asked for, as long as a transaction is";

/// A fresh id: two sessions of a test never share one.
fn session_id() -> [u8; 32] {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    super::hash(b"test", &[&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes()])
}

/// Generates a key; `tamper` may change what is sent, by round from 1 and sender.
fn generate(tamper: impl Fn(u8, &mut BTreeMap<u8, Messages>)) -> Vec<Result<Key, ProtocolError>> {
    let id = session_id();
    let mut parties: BTreeMap<u8, Keygen> = (1..=3).map(|party| (party, Keygen::new(party, &id).unwrap())).collect();
    let mut sent: BTreeMap<u8, Messages> =
        parties.iter_mut().map(|(party, session)| (*party, session.start().unwrap())).collect();
    for round in 1.. {
        tamper(round, &mut sent);
        let steps: Vec<_> = parties.iter_mut().map(|(party, session)| session.advance(inbox(&sent, *party))).collect();
        if steps.iter().any(|step| !matches!(step, Ok(Step::Send(_)))) {
            return steps
                .into_iter()
                .map(|step| match step {
                    Ok(Step::Done(key)) => Ok(key),
                    Ok(Step::Send(_)) => Err(ProtocolError::aborted(None, "others failed earlier")),
                    Err(error) => Err(error),
                })
                .collect();
        }
        for (party, step) in (1..).zip(steps) {
            if let Ok(Step::Send(messages)) = step {
                sent.insert(party, messages);
            }
        }
    }
    unreachable!("key generation ends")
}

/// What `to` receives in a round.
fn inbox(sent: &BTreeMap<u8, Messages>, to: u8) -> Messages {
    sent.iter().filter_map(|(from, messages)| Some((*from, messages.get(&to)?.clone()))).collect()
}

/// One key for all tests.
fn keys() -> &'static [Key] {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    KEYS.get_or_init(|| generate(|_, _| ()).into_iter().map(Result::unwrap).collect())
}

fn open(own: u8, peer: u8, id: &[u8], message: &[u8]) -> Result<Sign, ProtocolError> {
    Sign::new(id, own, peer, &keys()[usize::from(own) - 1].share, message)
}

fn pair(one: u8, other: u8, message: &[u8]) -> (Sign, Sign) {
    let id = session_id();
    (open(one, other, &id, message).unwrap(), open(other, one, &id, message).unwrap())
}

fn only(mut messages: Messages) -> Vec<u8> {
    messages.pop_first().unwrap().1
}

type Outcome = Result<[u8; 64], ProtocolError>;

/// Signs with two started sessions; `tamper` may change what the second sends, by round from 1.
fn finish(
    (mut a, mut b): (Sign, Sign),
    (mut from_a, mut from_b): (Vec<u8>, Vec<u8>),
    tamper: impl Fn(u8, &mut Vec<u8>),
) -> (Outcome, Outcome) {
    let (party_a, party_b) = (b.peers()[0], a.peers()[0]);
    let aborted = || Err(ProtocolError::aborted(None, "the other failed earlier"));
    for round in 1.. {
        tamper(round, &mut from_b);
        let step_a = a.advance(Messages::from([(party_b, from_b)]));
        let step_b = b.advance(Messages::from([(party_a, from_a)]));
        match (step_a, step_b) {
            (Ok(Step::Send(to_b)), Ok(Step::Send(to_a))) => (from_a, from_b) = (only(to_b), only(to_a)),
            (Ok(Step::Done(one)), Ok(Step::Done(other))) => return (Ok(one), Ok(other)),
            (Err(one), Err(other)) => return (Err(one), Err(other)),
            (Err(one), _) => return (Err(one), aborted()),
            (_, Err(other)) => return (aborted(), Err(other)),
            _ => panic!("parties disagree about the number of rounds"),
        }
    }
    unreachable!("signing ends")
}

fn sign(mut pair: (Sign, Sign), tamper: impl Fn(u8, &mut Vec<u8>)) -> (Outcome, Outcome) {
    let started = (only(pair.0.start().unwrap()), only(pair.1.start().unwrap()));
    finish(pair, started, tamper)
}

fn verifies(public_key: &[u8], message: &[u8], signature: &[u8; 64]) -> bool {
    let key = VerifyingKey::deserialize(public_key).unwrap();
    key.verify(message, &Signature::deserialize(signature).unwrap()).is_ok()
}

#[test]
fn key_generation_gives_all_the_same_key_and_each_its_own_share() {
    let keys = keys();
    for key in keys {
        assert_eq!(key.public_key, keys[0].public_key);
        assert_eq!(key.share.len(), 162);
    }
    assert_ne!(keys[0].share, keys[1].share);
    assert_ne!(keys[1].share, keys[2].share);
    assert_ne!(generate(|_, _| ())[0].as_ref().unwrap().public_key, keys[0].public_key);
}

#[test]
fn every_pair_signs_for_the_key_and_each_signature_is_another() {
    let mut signatures = HashSet::new();
    for (one, other) in PAIRS {
        for message in [MESSAGE, &[0], &[7; MAX_SIGNED_BYTES]] {
            let (a, b) = sign(pair(one, other, message), |_, _| ());
            let signature = a.unwrap();
            assert_eq!(signature, b.unwrap());
            assert!(verifies(&keys()[0].public_key, message, &signature));
            assert!(!verifies(&keys()[0].public_key, b"another", &signature));
            assert!(signatures.insert(signature));
        }
    }
}

#[test]
fn no_nonce_is_used_twice_in_ten_thousand_sessions() {
    let mut seen = HashSet::new();
    for count in 0..10_000 {
        let (one, other) = PAIRS[count % PAIRS.len()];
        // The same message in every session: the nonces do not depend on it.
        let mut both = pair(one, other, MESSAGE);
        let started = (only(both.0.start().unwrap()), only(both.1.start().unwrap()));
        for sent in [&started.0, &started.1] {
            let commitments: CommitmentsMessage = decode(Tag::FrostSignCommitments, sent).unwrap();
            assert!(seen.insert(commitments.hiding) && seen.insert(commitments.binding), "session {count}");
        }
        // One in ten is carried on to its end.
        if count % 10 == 0 {
            assert!(finish(both, started, |_, _| ()).0.is_ok());
        }
    }
    assert_eq!(seen.len(), 40_000);
}

#[test]
fn a_tampered_share_names_the_cheater_at_whoever_receives_it() {
    for (one, other) in PAIRS.into_iter().chain(PAIRS.map(|(one, other)| (other, one))) {
        let (a, _) = sign(pair(one, other, MESSAGE), |round, message| {
            if round == 2 {
                let sent: ShareMessage = decode(Tag::FrostSignShare, message).unwrap();
                let mut share = sent.share;
                share[0] ^= 1;
                *message = encode(Tag::FrostSignShare, &ShareMessage { share, ..sent });
            }
        });
        let error = a.unwrap_err();
        assert_eq!((error.code, error.culprit), (Code::Aborted, Some(other)), "{error}");
    }
}

#[test]
fn a_share_that_is_no_scalar_is_refused() {
    let (a, _) = sign(pair(1, 2, MESSAGE), |round, message| {
        if round == 2 {
            let end = message.len();
            message[end - 32..].fill(0xff);
        }
    });
    assert_eq!(a.unwrap_err(), ProtocolError::message(2, "share is no scalar"));
}

#[test]
fn a_replayed_commitment_is_refused() {
    let (mut earlier, _) = pair(2, 1, MESSAGE);
    let replayed = only(earlier.start().unwrap());
    let (a, _) = sign(pair(1, 2, MESSAGE), |round, message| {
        if round == 1 {
            message.clone_from(&replayed);
        }
    });
    assert_eq!(a.unwrap_err(), ProtocolError::message(2, "commitments are of another session"));
}

#[test]
fn a_commitment_that_is_sent_back_is_refused() {
    let mut a = pair(1, 2, MESSAGE).0;
    let own = only(a.start().unwrap());
    let error = a.advance(Messages::from([(2, own)])).unwrap_err();
    assert_eq!(error, ProtocolError::message(2, "commitments repeat this party's"));
}

#[test]
fn parties_that_sign_different_messages_get_no_signature() {
    let id = session_id();
    let (a, b) = sign((open(1, 2, &id, b"one").unwrap(), open(2, 1, &id, b"two").unwrap()), |_, _| ());
    assert_eq!(a.unwrap_err(), ProtocolError::message(2, "commitments are of another session"));
    assert_eq!(b.unwrap_err(), ProtocolError::message(1, "commitments are of another session"));
}

/// The peer answers with a share that it made for other commitments of its own.
#[test]
fn a_share_for_other_commitments_is_refused() {
    let id = session_id();
    let mut a = open(1, 2, &id, MESSAGE).unwrap();
    let from_a = only(a.start().unwrap());
    let mut sent = Vec::new();
    for _ in 0..2 {
        let mut b = open(2, 1, &id, MESSAGE).unwrap();
        let first = only(b.start().unwrap());
        let Step::Send(second) = b.advance(Messages::from([(1, from_a.clone())])).unwrap() else { panic!("a share") };
        sent.push((first, only(second)));
    }
    let _ = a.advance(Messages::from([(2, sent[0].0.clone())])).unwrap();
    let error = a.advance(Messages::from([(2, sent[1].1.clone())])).unwrap_err();
    assert_eq!(error, ProtocolError::message(2, "share is for other commitments"));
}

#[test]
fn a_commitment_of_no_point_or_of_small_order_is_refused() {
    // The identity, a point of order 2, and bytes that are no point.
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut order_two = [0xff; 32];
    order_two[0] = 0xec;
    order_two[31] = 0x7f;
    for wrong in [identity, order_two, [2; 32]] {
        let (a, _) = sign(pair(1, 3, MESSAGE), |round, message| {
            if round == 1 {
                let sent: CommitmentsMessage = decode(Tag::FrostSignCommitments, message).unwrap();
                *message = encode(Tag::FrostSignCommitments, &CommitmentsMessage { binding: wrong, ..sent });
            }
        });
        assert_eq!(a.unwrap_err(), ProtocolError::message(3, "commitments are no points of the group"));
    }
}

#[test]
fn two_sessions_of_one_key_at_once_end_each_with_its_own_signature() {
    let (mut first, mut second) = (pair(1, 2, b"first"), pair(1, 2, b"second"));
    let started_first = (only(first.0.start().unwrap()), only(first.1.start().unwrap()));
    let started_second = (only(second.0.start().unwrap()), only(second.1.start().unwrap()));
    let second = finish(second, started_second, |_, _| ()).0.unwrap();
    let first = finish(first, started_first, |_, _| ()).0.unwrap();
    assert!(verifies(&keys()[0].public_key, b"first", &first));
    assert!(verifies(&keys()[0].public_key, b"second", &second));
}

#[test]
fn a_session_that_failed_is_over() {
    let (mut a, mut b) = pair(1, 2, MESSAGE);
    let _ = a.start().unwrap();
    let from_b = only(b.start().unwrap());
    assert_eq!(a.start().unwrap_err().code, Code::BadMessage);
    // Even with what it waited for: the nonces are gone.
    let error = a.advance(Messages::from([(2, from_b)])).unwrap_err();
    assert_eq!(error, super::out_of_order());
}

#[test]
fn messages_of_another_round_or_with_a_tail_are_refused() {
    for change in
        [|message: &mut Vec<u8>| message[0] = Tag::FrostSignShare as u8, |message: &mut Vec<u8>| message.push(0)]
    {
        let (a, _) = sign(pair(2, 3, MESSAGE), |round, message| {
            if round == 1 {
                change(message);
            }
        });
        let error = a.unwrap_err();
        assert_eq!((error.code, error.culprit), (Code::BadMessage, Some(3)));
    }
}

#[test]
fn arguments_are_checked() {
    let id = session_id();
    assert!(Keygen::new(0, &id).is_err());
    assert!(Keygen::new(4, &id).is_err());
    assert!(Keygen::new(1, &id[1..]).is_err());
    assert!(open(1, 1, &id, MESSAGE).is_err());
    assert!(open(1, 4, &id, MESSAGE).is_err());
    assert!(open(1, 2, &id[1..], MESSAGE).is_err());
    assert!(open(1, 2, &id, &[]).is_err());
    assert!(open(1, 2, &id, &[0; MAX_SIGNED_BYTES + 1]).is_err());
    let share = &keys()[0].share;
    assert!(Sign::new(&id, 2, 1, share, MESSAGE).is_err());
    assert!(Sign::new(&id, 1, 2, &share[1..], MESSAGE).is_err());
    assert!(Sign::new(&id, 1, 2, &[], MESSAGE).is_err());
    // A secret that is not the one of its public counterpart.
    let mut damaged = share.clone();
    damaged[2] ^= 1;
    assert!(Sign::new(&id, 1, 2, &damaged, MESSAGE).is_err());
}

fn failures(results: Vec<Result<Key, ProtocolError>>) -> Vec<ProtocolError> {
    results.into_iter().map(|result| result.err().expect("nobody has a key")).collect()
}

#[test]
fn a_wrong_share_of_key_generation_names_the_cheater() {
    let errors = failures(generate(|round, sent| {
        if round == 3 {
            sent.get_mut(&2).unwrap().get_mut(&1).unwrap()[1] ^= 1;
        }
    }));
    assert_eq!((errors[0].code, errors[0].culprit), (Code::Aborted, Some(2)), "{}", errors[0]);
}

#[test]
fn a_package_that_was_not_committed_to_names_the_cheater() {
    let errors = failures(generate(|round, sent| {
        if round == 2 {
            // Party 3 sends on what party 2 has sent: it hopes to cancel its part of the key.
            let copied = sent[&2][&1].clone();
            sent.get_mut(&3).unwrap().insert(1, copied);
        }
    }));
    assert_eq!(errors[0], ProtocolError::aborted(Some(3), "package is not the one that was committed to"));
}

#[test]
fn a_proof_of_another_partys_secret_names_the_cheater() {
    // Party 3 commits to, and sends, a package of its own whose proof is not for its first coefficient.
    let id = session_id();
    let mut parties: BTreeMap<u8, Keygen> = (1..=3).map(|party| (party, Keygen::new(party, &id).unwrap())).collect();
    let mut sent: BTreeMap<u8, Messages> =
        parties.iter_mut().map(|(party, session)| (*party, session.start().unwrap())).collect();
    let other = keygen_package();
    let forged = PackageMessage { proof: keygen_package().proof, ..other };
    let bytes = postcard::to_allocvec(&forged).unwrap();
    let commitment = super::hash(b"threshold/frost-ed25519/keygen/package/v1", &[&id, &[3], &bytes]);
    sent.get_mut(&3).unwrap().insert(1, encode(Tag::FrostKeygenCommitment, &commitment));
    let one = parties.get_mut(&1).unwrap();
    let _ = one.advance(inbox(&sent, 1)).unwrap();
    let two = parties.get_mut(&2).unwrap();
    let Step::Send(from_two) = two.advance(inbox(&sent, 2)).unwrap() else { panic!("a package") };
    let incoming = Messages::from([(2, from_two[&1].clone()), (3, encode(Tag::FrostKeygenPackage, &forged))]);
    let error = parties.get_mut(&1).unwrap().advance(incoming).err().unwrap();
    assert_eq!((error.code, error.culprit), (Code::Aborted, Some(3)), "{error}");
}

/// A package of somebody's key generation.
fn keygen_package() -> PackageMessage {
    let id = session_id();
    let mut parties: BTreeMap<u8, Keygen> = (1..=3).map(|party| (party, Keygen::new(party, &id).unwrap())).collect();
    let sent: BTreeMap<u8, Messages> =
        parties.iter_mut().map(|(party, session)| (*party, session.start().unwrap())).collect();
    let Step::Send(messages) = parties.get_mut(&3).unwrap().advance(inbox(&sent, 3)).unwrap() else { panic!() };
    decode(Tag::FrostKeygenPackage, &messages[&1]).unwrap()
}

/// Party 3 takes part towards party 1 with one polynomial and towards party 2 with another. Each is consistent by itself: only the echo
/// can detect this.
#[test]
fn telling_two_parties_different_things_gives_nobody_a_key() {
    let id = session_id();
    let mut honest: BTreeMap<u8, Keygen> = (1..=2).map(|party| (party, Keygen::new(party, &id).unwrap())).collect();
    let mut faces: BTreeMap<u8, Keygen> = (1..=2).map(|to| (to, Keygen::new(3, &id).unwrap())).collect();
    let mut from_honest: BTreeMap<u8, Messages> =
        honest.iter_mut().map(|(party, session)| (*party, session.start().unwrap())).collect();
    let mut from_faces: BTreeMap<u8, Messages> =
        faces.iter_mut().map(|(to, session)| (*to, session.start().unwrap())).collect();
    for round in 1..=4 {
        let incoming = |to: u8| {
            let other = 3 - to;
            Messages::from([(other, from_honest[&other][&to].clone()), (3, from_faces[&to][&to].clone())])
        };
        let steps: Vec<_> = (1..=2).map(|to| (to, incoming(to))).collect();
        let to_three = Messages::from([(1, from_honest[&1][&3].clone()), (2, from_honest[&2][&3].clone())]);
        let results: Vec<_> =
            steps.into_iter().map(|(to, incoming)| honest.get_mut(&to).unwrap().advance(incoming)).collect();
        if round == 4 {
            for result in results {
                let error = result.err().unwrap();
                assert_eq!((error.code, error.culprit), (Code::Aborted, None), "{error}");
            }
            return;
        }
        for (to, result) in (1..).zip(results) {
            let Step::Send(messages) = result.unwrap() else { panic!("nobody has a key yet") };
            from_honest.insert(to, messages);
        }
        for (to, face) in &mut faces {
            let Step::Send(messages) = face.advance(to_three.clone()).unwrap() else { panic!("no key yet") };
            from_faces.insert(*to, messages);
        }
    }
}
