//! What a session can fail with.

use dkls23_core::protocols::{Abort, AbortKind, AbortReason};
use std::fmt;

/// What the caller has to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// An argument or a peer's message is malformed, missing, repeated or not of this round.
    BadMessage,
    /// The session failed; a new one, with a fresh session id, may be tried.
    Aborted,
    /// The culprit failed a check whose failure reveals something of our reusable state. Signing with it again, under
    /// the same share, lets it extract the key.
    Ban,
}

impl Code {
    /// The code's name in JavaScript.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::BadMessage => "bad_message",
            Code::Aborted => "aborted",
            Code::Ban => "ban",
        }
    }
}

/// A failed session. It is over whatever the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolError {
    pub code: Code,
    /// The peer whose message failed; absent if it is not known or the fault is the caller's.
    pub culprit: Option<u8>,
    /// For logs: names the check, never a value.
    pub detail: String,
}

impl ProtocolError {
    /// An argument of the caller's is wrong.
    pub fn argument(detail: &str) -> Self {
        Self { code: Code::BadMessage, culprit: None, detail: detail.into() }
    }

    /// A peer's message is wrong.
    pub fn message(from: u8, detail: &str) -> Self {
        Self { code: Code::BadMessage, culprit: Some(from), detail: detail.into() }
    }

    /// The session cannot go on.
    pub fn aborted(culprit: Option<u8>, detail: &str) -> Self {
        Self { code: Code::Aborted, culprit, detail: detail.into() }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for ProtocolError {}

impl From<Abort> for ProtocolError {
    fn from(abort: Abort) -> Self {
        let detail = abort.description();
        match abort.kind {
            AbortKind::BanCounterparty(party) => Self { code: Code::Ban, culprit: Some(party.as_u8()), detail },
            AbortKind::Recoverable => {
                // Our own state or our own proof is nobody's fault but ours.
                let culprit = blamed(&abort.reason).filter(|party| *party != abort.index.as_u8());
                Self { code: Code::Aborted, culprit, detail }
            }
        }
    }
}

/// The party a recoverable abort names as the sender of what failed.
fn blamed(reason: &AbortReason) -> Option<u8> {
    match reason {
        AbortReason::SessionBindingMismatch { counterparty }
        | AbortReason::ProofVerificationFailed { counterparty }
        | AbortReason::CommitmentMismatch { counterparty }
        | AbortReason::TrivialInstancePoint { counterparty }
        | AbortReason::MultiplicationVerificationFailed { counterparty, .. }
        | AbortReason::ZeroShareDecommitFailed { counterparty } => Some(counterparty.as_u8()),
        AbortReason::ChainCodeCommitmentFailed { party } => Some(party.as_u8()),
        _ => None,
    }
}
