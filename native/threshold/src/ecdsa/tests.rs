//! Whole runs of the protocol, and what happens when somebody does not keep to it.

use super::keygen::{Commitments, CommitmentsMessage, OpeningsMessage};
use super::{Key, Keygen, Sign, Signature, Step};
use crate::error::{Code, ProtocolError};
use crate::inbox::{Inbox, Messages};
use crate::wire::{decode, encode, Tag, MAX_MESSAGE_BYTES};
use dkls23_core::utilities::commits::commit;
use k256::ecdsa::{RecoveryId, Signature as EcdsaSignature, VerifyingKey};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const PAIRS: [(u8, u8); 3] = [(1, 2), (1, 3), (2, 3)];
const PATH: &str = "m/60/0";

fn digest() -> [u8; 32] {
    Sha256::digest(b"what the client asked for").into()
}

/// A fresh id: two sessions of a test never share one.
fn session_id() -> [u8; 32] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Sha256::digest(NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes()).into()
}

/// What `to` receives in a round.
fn inbox(sent: &BTreeMap<u8, Messages>, to: u8) -> Messages {
    sent.iter().filter_map(|(from, messages)| Some((*from, messages.get(&to)?.clone()))).collect()
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

/// One key for all tests.
fn keys() -> &'static [Key] {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    KEYS.get_or_init(|| generate(|_, _| ()).into_iter().map(Result::unwrap).collect())
}

fn open(own: u8, peer: u8, id: &[u8], path: &str, digest: &[u8]) -> Result<Sign, ProtocolError> {
    Sign::new(id, own, peer, &keys()[usize::from(own) - 1].share, path, digest)
}

/// Signs with two sessions; `tamper` may change what the second sends, by round from 1.
fn sign(
    mut a: Sign,
    mut b: Sign,
    tamper: impl Fn(u8, &mut Vec<u8>),
) -> (Result<Signature, ProtocolError>, Result<Signature, ProtocolError>) {
    let (party_a, party_b) = (b.peers()[0], a.peers()[0]);
    let mut from_a = a.start().unwrap().remove(&party_b).unwrap();
    let mut from_b = b.start().unwrap().remove(&party_a).unwrap();
    let aborted = || Err(ProtocolError::aborted(None, "the other failed earlier"));
    for round in 1.. {
        tamper(round, &mut from_b);
        let step_a = a.advance(Messages::from([(party_b, from_b)]));
        let step_b = b.advance(Messages::from([(party_a, from_a)]));
        match (step_a, step_b) {
            (Ok(Step::Send(mut to_b)), Ok(Step::Send(mut to_a))) => {
                from_a = to_b.remove(&party_b).unwrap();
                from_b = to_a.remove(&party_a).unwrap();
            }
            (Ok(Step::Done(one)), Ok(Step::Done(other))) => return (Ok(one), Ok(other)),
            (Err(one), Err(other)) => return (Err(one), Err(other)),
            (Err(one), _) => return (Err(one), aborted()),
            (_, Err(other)) => return (aborted(), Err(other)),
            _ => panic!("parties disagree about the number of rounds"),
        }
    }
    unreachable!("signing ends")
}

fn recover(signature: &Signature, digest: &[u8; 32]) -> Vec<u8> {
    let ecdsa = EcdsaSignature::from_scalars(signature.r, signature.s).unwrap();
    let id = RecoveryId::from_byte(signature.recovery_id).unwrap();
    VerifyingKey::recover_from_prehash(digest, &ecdsa, id).unwrap().to_sec1_point(true).as_bytes().to_vec()
}

#[test]
fn key_generation_gives_all_the_same_key_and_each_its_own_share() {
    let keys = keys();
    for key in keys {
        assert_eq!(key.public_key, keys[0].public_key);
        assert_eq!(key.chain_code, keys[0].chain_code);
    }
    assert_ne!(keys[0].share, keys[1].share);
    assert_ne!(keys[1].share, keys[2].share);
}

#[test]
fn every_pair_signs_for_the_group_key_and_its_children() {
    for path in ["m", PATH] {
        let mut signers = Vec::new();
        for (one, other) in PAIRS {
            let id = session_id();
            let digest = digest();
            let (a, b) = sign(
                open(one, other, &id, path, &digest).unwrap(),
                open(other, one, &id, path, &digest).unwrap(),
                |_, _| (),
            );
            let signature = a.unwrap();
            assert_eq!(signature, b.unwrap());
            assert!(
                EcdsaSignature::from_scalars(signature.r, signature.s).unwrap().normalize_s().to_bytes()[32..]
                    == signature.s
            );
            signers.push(recover(&signature, &digest));
        }
        assert!(signers.iter().all(|signer| *signer == signers[0]), "{path}");
        assert_eq!(signers[0] == keys()[0].public_key, path == "m");
    }
}

#[test]
fn a_flipped_bit_in_the_first_signing_message_bans_the_sender() {
    let id = session_id();
    let (a, _) =
        sign(open(1, 2, &id, PATH, &digest()).unwrap(), open(2, 1, &id, PATH, &digest()).unwrap(), |round, message| {
            // Behind binding and commitment lies what the oblivious transfer checks.
            if round == 1 {
                let middle = message.len() / 2;
                message[middle] ^= 1;
            }
        });
    let error = a.unwrap_err();
    assert_eq!((error.code, error.culprit), (Code::Ban, Some(2)), "{error}");
}

#[test]
fn a_session_that_failed_stays_failed() {
    let id = session_id();
    let mut a = open(1, 2, &id, PATH, &digest()).unwrap();
    let mut b = open(2, 1, &id, PATH, &digest()).unwrap();
    a.start().unwrap();
    let good = b.start().unwrap().remove(&1).unwrap();
    assert_eq!(a.advance(Messages::from([(2, vec![Tag::SignFirst as u8])])).unwrap_err().code, Code::BadMessage);
    assert_eq!(a.advance(Messages::from([(2, good)])).unwrap_err().code, Code::BadMessage);
    assert!(a.start().is_err());
}

#[test]
fn parties_that_sign_different_things_abort_without_ban() {
    let other_digest: [u8; 32] = Sha256::digest(b"something else").into();
    let id = session_id();
    let other_id = session_id();
    for (id_b, path_b, digest_b) in [(&id, PATH, other_digest), (&id, "m/60/1", digest()), (&other_id, PATH, digest())]
    {
        let (a, b) =
            sign(open(1, 2, &id, PATH, &digest()).unwrap(), open(2, 1, id_b, path_b, &digest_b).unwrap(), |_, _| ());
        for (result, culprit) in [(a, 2), (b, 1)] {
            let error = result.unwrap_err();
            assert_eq!((error.code, error.culprit), (Code::Aborted, Some(culprit)), "{error}");
        }
    }
}

#[test]
fn a_wrong_last_message_gives_no_signature() {
    let id = session_id();
    let (a, _) =
        sign(open(1, 3, &id, PATH, &digest()).unwrap(), open(3, 1, &id, PATH, &digest()).unwrap(), |round, message| {
            if round == 3 {
                message[40] ^= 1;
            }
        });
    assert_eq!(a.unwrap_err().code, Code::Aborted);
}

#[test]
fn messages_of_another_round_or_with_a_tail_are_refused() {
    let id = session_id();
    for change in [|message: &mut Vec<u8>| message[0] = Tag::SignSecond as u8, |message: &mut Vec<u8>| message.push(0)]
    {
        let (a, _) =
            sign(open(2, 3, &id, PATH, &digest()).unwrap(), open(3, 2, &id, PATH, &digest()).unwrap(), |_, message| {
                change(message)
            });
        let error = a.unwrap_err();
        assert_eq!((error.code, error.culprit), (Code::BadMessage, Some(3)));
    }
}

#[test]
fn an_inbox_takes_one_message_of_every_peer() {
    let mut inbox = Inbox::new(vec![1, 3]);
    inbox.put(1, vec![0]).unwrap();
    assert_eq!(inbox.take().unwrap_err().culprit, Some(3));
    assert_eq!(inbox.put(1, vec![0]).unwrap_err().culprit, Some(1));
    assert_eq!(inbox.put(2, vec![0]).unwrap_err().culprit, Some(2));
    assert_eq!(inbox.put(3, vec![0; MAX_MESSAGE_BYTES + 1]).unwrap_err().code, Code::BadMessage);
}

#[test]
fn arguments_are_checked() {
    let digest = digest();
    let id = session_id();
    assert!(Keygen::new(0, &id).is_err());
    assert!(Keygen::new(4, &id).is_err());
    assert!(Keygen::new(1, &id[1..]).is_err());
    assert!(open(1, 1, &id, PATH, &digest).is_err());
    assert!(open(1, 4, &id, PATH, &digest).is_err());
    assert!(open(1, 2, &id[1..], PATH, &digest).is_err());
    assert!(open(1, 2, &id, PATH, &digest[1..]).is_err());
    assert!(open(1, 2, &id, "m/60'", &digest).is_err());
    let share = &keys()[0].share;
    assert!(Sign::new(&id, 2, 1, share, PATH, &digest).is_err());
    assert!(Sign::new(&id, 1, 2, &share[..share.len() - 1], PATH, &digest).is_err());
    assert!(Sign::new(&id, 1, 2, &[], PATH, &digest).is_err());
}

#[test]
fn a_wrong_fragment_gives_nobody_a_key() {
    let results = generate(|round, sent| {
        if round == 1 {
            let fragment = sent.get_mut(&2).unwrap().get_mut(&1).unwrap();
            fragment[20] ^= 1;
        }
    });
    for result in results {
        assert_eq!(result.err().unwrap().code, Code::Aborted);
    }
}

#[test]
fn a_copied_commitment_is_refused() {
    let results = generate(|round, sent| {
        if round == 2 {
            // Party 3 waits for party 2's commitment and sends it on as its own.
            let copied = sent[&2][&1].clone();
            sent.get_mut(&3).unwrap().insert(1, copied);
        }
    });
    let error = results.into_iter().next().unwrap().err().unwrap();
    assert_eq!((error.code, error.culprit), (Code::Aborted, Some(3)));
}

/// Party 3 commits to, and opens, one chain code towards party 1 and another towards party 2. Each is consistent by itself:
/// only the echo can detect this.
#[test]
fn telling_two_parties_different_things_gives_nobody_a_key() {
    let other_chain_code = [7; 32];
    let (other_commitment, other_salt) = commit(&other_chain_code);
    let results = generate(|round, sent| {
        let Some(message) = sent.get_mut(&3).and_then(|messages| messages.get_mut(&2)) else { return };
        if round == 2 {
            let CommitmentsMessage { broadcast, zero_share } = decode(Tag::KeygenCommitments, message).unwrap();
            let broadcast = Commitments { chain_code: other_commitment, ..broadcast };
            *message = encode(Tag::KeygenCommitments, &CommitmentsMessage { broadcast, zero_share });
        }
        if round == 3 {
            let mut opened: OpeningsMessage = decode(Tag::KeygenOpenings, message).unwrap();
            opened.broadcast.chain_code = other_chain_code;
            opened.broadcast.chain_code_salt = other_salt.clone();
            *message = encode(Tag::KeygenOpenings, &opened);
        }
    });
    for result in results {
        let error = result.err().unwrap();
        assert_eq!((error.code, error.culprit), (Code::Aborted, None), "{error}");
    }
}
