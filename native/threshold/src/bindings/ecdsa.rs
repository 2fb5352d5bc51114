//! Threshold ECDSA as JavaScript classes.

use super::missing;
use crate::ecdsa::{Key, Keygen, Sign, Signature, Step, KEYGEN_ROUNDS, SIGN_ROUNDS};
use crate::inbox::{Inbox, Messages};
use wasm_bindgen::prelude::*;

/// One party's part in generating a two-of-three key.
#[wasm_bindgen]
pub struct KeygenSession {
    session: Keygen,
    inbox: Inbox,
    outgoing: Messages,
    key: Option<Key>,
}

#[wasm_bindgen]
impl KeygenSession {
    /// @param party 1, 2 or 3
    /// @param sessionId 32 fresh bytes, equal at all three parties
    #[wasm_bindgen(constructor)]
    pub fn new(party: u8, #[wasm_bindgen(js_name = sessionId)] session_id: &[u8]) -> Result<KeygenSession, JsValue> {
        let session = Keygen::new(party, session_id)?;
        let inbox = Inbox::new(session.peers());
        Ok(Self { session, inbox, outgoing: Messages::new(), key: None })
    }

    /// Message rounds, fixed.
    #[wasm_bindgen(getter)]
    pub fn rounds(&self) -> u8 {
        KEYGEN_ROUNDS
    }

    /// The peers, each of whom sends and gets one message a round.
    #[wasm_bindgen(getter)]
    pub fn peers(&self) -> Vec<u8> {
        self.session.peers()
    }

    /// Makes the messages of round 1.
    pub fn start(&mut self) -> Result<(), JsValue> {
        self.outgoing = self.session.start()?;
        Ok(())
    }

    /// Takes a peer's message of the current round.
    pub fn receive(&mut self, from: u8, message: Vec<u8>) -> Result<(), JsValue> {
        Ok(self.inbox.put(from, message)?)
    }

    /// Ends the round; true once the key is there, false if there are messages to send.
    pub fn advance(&mut self) -> Result<bool, JsValue> {
        let incoming = self.inbox.take()?;
        match self.session.advance(incoming)? {
            Step::Send(messages) => self.outgoing = messages,
            Step::Done(key) => self.key = Some(key),
        }
        Ok(self.key.is_some())
    }

    /// Hands out the message for a peer, once.
    pub fn message(&mut self, to: u8) -> Result<Vec<u8>, JsValue> {
        self.outgoing.remove(&to).ok_or_else(missing)
    }

    /// Group public key, 33 bytes, SEC1 compressed.
    #[wasm_bindgen(getter, js_name = publicKey)]
    pub fn public_key(&self) -> Result<Vec<u8>, JsValue> {
        Ok(self.key.as_ref().ok_or_else(missing)?.public_key.to_vec())
    }

    /// BIP-32 chain code of the group key, 32 bytes.
    #[wasm_bindgen(getter, js_name = chainCode)]
    pub fn chain_code(&self) -> Result<Vec<u8>, JsValue> {
        Ok(self.key.as_ref().ok_or_else(missing)?.chain_code.to_vec())
    }

    /// This party's secret share, about 105 KB.
    #[wasm_bindgen(getter)]
    pub fn share(&self) -> Result<Vec<u8>, JsValue> {
        Ok(self.key.as_ref().ok_or_else(missing)?.share.clone())
    }
}

/// One party's part in a signature by two.
#[wasm_bindgen]
pub struct SignSession {
    session: Sign,
    inbox: Inbox,
    outgoing: Messages,
    signature: Option<Signature>,
}

#[wasm_bindgen]
impl SignSession {
    /// @param sessionId 32 fresh bytes, equal at both parties
    /// @param party own index, 1, 2 or 3
    /// @param peer the other signer's index
    /// @param share what key generation gave this party
    /// @param path child to sign with, such as `m/60/0`, or `m`
    /// @param digest the 32 bytes to sign
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(js_name = sessionId)] session_id: &[u8],
        party: u8,
        peer: u8,
        share: &[u8],
        path: &str,
        digest: &[u8],
    ) -> Result<SignSession, JsValue> {
        let session = Sign::new(session_id, party, peer, share, path, digest)?;
        let inbox = Inbox::new(session.peers());
        Ok(Self { session, inbox, outgoing: Messages::new(), signature: None })
    }

    /// Message rounds, fixed.
    #[wasm_bindgen(getter)]
    pub fn rounds(&self) -> u8 {
        SIGN_ROUNDS
    }

    /// The peers, each of whom sends and gets one message a round.
    #[wasm_bindgen(getter)]
    pub fn peers(&self) -> Vec<u8> {
        self.session.peers()
    }

    /// Makes the message of round 1.
    pub fn start(&mut self) -> Result<(), JsValue> {
        self.outgoing = self.session.start()?;
        Ok(())
    }

    /// Takes the peer's message of the current round.
    pub fn receive(&mut self, from: u8, message: Vec<u8>) -> Result<(), JsValue> {
        Ok(self.inbox.put(from, message)?)
    }

    /// Ends the round; true once the signature is there, false if there is a message to send.
    pub fn advance(&mut self) -> Result<bool, JsValue> {
        let incoming = self.inbox.take()?;
        match self.session.advance(incoming)? {
            Step::Send(messages) => self.outgoing = messages,
            Step::Done(signature) => self.signature = Some(signature),
        }
        Ok(self.signature.is_some())
    }

    /// Hands out the message for the peer, once.
    pub fn message(&mut self, to: u8) -> Result<Vec<u8>, JsValue> {
        self.outgoing.remove(&to).ok_or_else(missing)
    }

    /// r (32 bytes) followed by s (32 bytes, low).
    #[wasm_bindgen(getter)]
    pub fn signature(&self) -> Result<Vec<u8>, JsValue> {
        let signature = self.signature.as_ref().ok_or_else(missing)?;
        Ok([signature.r, signature.s].concat())
    }

    /// 0 to 3.
    #[wasm_bindgen(getter, js_name = recoveryId)]
    pub fn recovery_id(&self) -> Result<u8, JsValue> {
        Ok(self.signature.as_ref().ok_or_else(missing)?.recovery_id)
    }
}
