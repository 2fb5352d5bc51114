//! Encoding of messages and shares: one tag byte, then the value in postcard's format.

use crate::error::ProtocolError;
use serde::{de::DeserializeOwned, Serialize};

/// Largest message accepted, in bytes. The largest sent, the third of key generation, has 148 KB.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;

/// Says what the bytes are, so that a message of another round is refused before it is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    EcdsaShareV1 = 0x01,
    FrostShareV1 = 0x02,
    KeygenFragment = 0x11,
    KeygenCommitments = 0x12,
    KeygenOpenings = 0x13,
    KeygenConfirmation = 0x14,
    SignFirst = 0x21,
    SignSecond = 0x22,
    SignThird = 0x23,
    FrostKeygenCommitment = 0x31,
    FrostKeygenPackage = 0x32,
    FrostKeygenShare = 0x33,
    FrostKeygenConfirmation = 0x34,
    FrostSignCommitments = 0x41,
    FrostSignShare = 0x42,
}

/// Encodes a value under its tag.
pub fn encode<T: Serialize>(tag: Tag, value: &T) -> Vec<u8> {
    // Writing to memory cannot fail, and the types sent have no unsupported shapes.
    postcard::to_extend(value, vec![tag as u8]).expect("types sent are encodable")
}

/// Decodes a value that must have this tag and nothing after it. `None` if it has not.
pub fn decode<T: DeserializeOwned>(tag: Tag, bytes: &[u8]) -> Option<T> {
    let (first, body) = bytes.split_first()?;
    if *first != tag as u8 {
        return None;
    }
    let (value, rest) = postcard::take_from_bytes(body).ok()?;
    rest.is_empty().then_some(value)
}

/// Decodes a peer's message.
pub fn decode_message<T: DeserializeOwned>(tag: Tag, from: u8, bytes: &[u8]) -> Result<T, ProtocolError> {
    decode(tag, bytes).ok_or_else(|| ProtocolError::message(from, "message is malformed or not of this round"))
}
