#!/usr/bin/env bash
# Builds native/threshold/wasm from the Rust sources.
#   bash native/threshold/build.sh           rebuilds the committed module in place
#   bash native/threshold/build.sh --check   builds into a temporary directory, leaves the tree alone, compares the new
#                                            module with the committed one byte by byte, has both generate a key
#                                            and sign together, and tries the published vectors of FROST
# Ends with 3 where the Rust toolchain is incomplete and cannot be completed here.
set -euo pipefail
cd "$(dirname "$0")"

bindgen_version=0.2.130
cache="${XDG_CACHE_HOME:-$HOME/.cache}/custody-gateway/wasm-bindgen"
target=wasm32-unknown-unknown

need() {
  echo "build.sh: $1" >&2
  exit "${2:-1}"
}

mode="${1:-}"
[[ $mode == '' || $mode == --check ]] || need "unknown argument $mode (only --check is known)"
# What is committed must agree with itself, with or without Rust.
[[ $mode != --check ]] || (cd wasm && sha256sum --check --quiet --strict SHA256SUMS) ||
  need 'the committed module does not have the hashes of wasm/SHA256SUMS: run build.sh and commit wasm/'
pinned="$(sed -n 's/^channel = "\(.*\)"$/\1/p' rust-toolchain.toml)"
command -v cargo >/dev/null || need "cargo is missing: install Rust $pinned from https://rustup.rs" 3
# rustup reads rust-toolchain.toml; where it is not installed and cannot be, the compiler does not even say its version
rust="$(rustc --version | cut -d ' ' -f 2)" || need "Rust $pinned is missing: rustup toolchain install $pinned" 3
[[ $rust == "$pinned" ]] || need "this is Rust $rust, the module is built with $pinned: install it by https://rustup.rs" 3
if [[ ! -d "$(rustc --print sysroot)/lib/rustlib/$target" ]]; then
  timeout 300 rustup target add "$target" || need "the target is missing and could not be added: rustup target add $target" 3
fi

# The generator must be of the very version of the library.
bindgen=''
for candidate in "$cache/bin/wasm-bindgen" "$(command -v wasm-bindgen || true)"; do
  if [[ -x $candidate && "$("$candidate" --version)" == "wasm-bindgen $bindgen_version" ]]; then
    bindgen="$candidate"
    break
  fi
done
if [[ -z $bindgen ]]; then
  echo "build.sh: installing wasm-bindgen-cli $bindgen_version into $cache (about 3 minutes, once)" >&2
  # Not --locked: the lock file it was published with names withdrawn versions.
  cargo install --quiet wasm-bindgen-cli --version "$bindgen_version" --root "$cache"
  bindgen="$cache/bin/wasm-bindgen"
fi

out=wasm
if [[ $mode == --check ]]; then
  out="$(mktemp -d)"
  trap 'rm -rf "$out"' EXIT
fi

# simd128: every Node supported has it, signing is 12 % faster. The remapped prefixes keep this machine's paths out of
# panic locations.
export RUSTFLAGS="-C target-feature=+simd128 --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo --remap-path-prefix=$PWD=threshold"
export CARGO_TARGET_DIR="$PWD/target"
cargo build --quiet --locked --release --target "$target"
"$bindgen" --target nodejs --remove-name-section --remove-producers-section --out-dir "$out" \
  "$CARGO_TARGET_DIR/$target/release/threshold.wasm"

(cd "$out" && sha256sum threshold_bg.wasm threshold.js | tee SHA256SUMS)
if [[ $mode == --check ]]; then
  cmp wasm/SHA256SUMS "$out/SHA256SUMS" ||
    need 'the sources do not give the committed module: run build.sh, look at what has changed, and commit wasm/'
  node check.cjs wasm "$out"
  # for this machine, not for WebAssembly: the other tests of the crate take minutes
  RUSTFLAGS= cargo test --quiet --locked frost::tests::vectors
fi
