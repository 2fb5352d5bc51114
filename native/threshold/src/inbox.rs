//! Collects the peers' messages of one round.

use crate::error::ProtocolError;
use crate::wire::MAX_MESSAGE_BYTES;
use std::collections::BTreeMap;

/// Messages by party: received, by sender; to send, by recipient.
pub type Messages = BTreeMap<u8, Vec<u8>>;

/// Where a session stands after a round.
#[derive(Debug)]
pub enum Step<T> {
    /// The next round's messages, one for every peer.
    Send(Messages),
    Done(T),
}

/// Takes exactly one message of every peer a round.
pub struct Inbox {
    peers: Vec<u8>,
    received: Messages,
}

impl Inbox {
    pub fn new(peers: Vec<u8>) -> Self {
        Self { peers, received: Messages::new() }
    }

    /// Adds a message of this round.
    ///
    /// # Errors
    /// The sender is no peer of the session or has sent already, or the message is too large.
    pub fn put(&mut self, from: u8, message: Vec<u8>) -> Result<(), ProtocolError> {
        if !self.peers.contains(&from) {
            return Err(ProtocolError::message(from, "sender takes no part in this session"));
        }
        if message.len() > MAX_MESSAGE_BYTES {
            return Err(ProtocolError::message(from, "message is too large"));
        }
        if self.received.insert(from, message).is_some() {
            return Err(ProtocolError::message(from, "second message in one round"));
        }
        Ok(())
    }

    /// Ends the round.
    ///
    /// # Errors
    /// A peer's message is missing.
    pub fn take(&mut self) -> Result<Messages, ProtocolError> {
        for peer in &self.peers {
            if !self.received.contains_key(peer) {
                return Err(ProtocolError::message(*peer, "message is missing"));
            }
        }
        Ok(std::mem::take(&mut self.received))
    }
}
