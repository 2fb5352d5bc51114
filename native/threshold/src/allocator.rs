//! Wipes every heap block when it is freed.
//!
//! Secrets pass through buffers this crate does not own: those of wasm-bindgen, of the decoder and of the protocol library.
//! Wiping at the allocator covers them all, and grown vectors too, since the default `realloc` moves through `dealloc`.

use std::alloc::{GlobalAlloc, Layout, System};

struct WipingAllocator;

// SAFETY: every call is passed on to `System`; the block is still owned by the caller when it is wiped.
unsafe impl GlobalAlloc for WipingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        block.write_bytes(0, layout.size());
        // Keeps the compiler from dropping the writes as dead.
        std::hint::black_box(block);
        System.dealloc(block, layout);
    }
}

#[global_allocator]
static ALLOCATOR: WipingAllocator = WipingAllocator;
