//! The host's random source, in the form that the library takes.

use frost_ed25519::rand_core::{impls, CryptoRng, Error, RngCore};

pub(super) struct HostRandom;

impl RngCore for HostRandom {
    fn next_u32(&mut self) -> u32 {
        impls::next_u32_via_fill(self)
    }

    fn next_u64(&mut self) -> u64 {
        impls::next_u64_via_fill(self)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        // A host that has none cannot go on: the instance ends.
        getrandom::fill(bytes).expect("the host has a random source");
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for HostRandom {}
