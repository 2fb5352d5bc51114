/* @ts-self-types="./threshold.d.ts" */

/**
 * One party's part in generating a two-of-three Ed25519 key.
 */
class FrostKeygenSession {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        FrostKeygenSessionFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_frostkeygensession_free(ptr, 0);
    }
    /**
     * Ends the round; true once the key is there, false if there are messages to send.
     * @returns {boolean}
     */
    advance() {
        const ret = wasm.frostkeygensession_advance(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * Hands out the message for a peer, once.
     * @param {number} to
     * @returns {Uint8Array}
     */
    message(to) {
        const ret = wasm.frostkeygensession_message(this.__wbg_ptr, to);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * @param party 1, 2 or 3
     * @param sessionId 32 fresh bytes, equal at all three parties
     * @param {number} party
     * @param {Uint8Array | number[]} sessionId
     */
    constructor(party, sessionId) {
        const val2 = +party;
        const ptr0 = passArray8ToWasm0(sessionId, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.frostkeygensession_new(val2, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        FrostKeygenSessionFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * The peers, each of whom sends and gets one message a round.
     * @returns {Uint8Array}
     */
    get peers() {
        const ret = wasm.frostkeygensession_peers(this.__wbg_ptr);
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Group public key, 32 bytes (RFC 8032).
     * @returns {Uint8Array}
     */
    get publicKey() {
        const ret = wasm.frostkeygensession_publicKey(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Takes a peer's message of the current round.
     * @param {number} from
     * @param {Uint8Array | number[]} message
     */
    receive(from, message) {
        const val2 = +from;
        const ptr0 = passArray8ToWasm0(message, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.frostkeygensession_receive(this.__wbg_ptr, val2, ptr0, len0);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Message rounds, fixed.
     * @returns {number}
     */
    get rounds() {
        const ret = wasm.frostkeygensession_rounds(this.__wbg_ptr);
        return ret;
    }
    /**
     * This party's secret share, 162 bytes.
     * @returns {Uint8Array}
     */
    get share() {
        const ret = wasm.frostkeygensession_share(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Makes the messages of round 1.
     */
    start() {
        const ret = wasm.frostkeygensession_start(this.__wbg_ptr);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
}
if (Symbol.dispose) FrostKeygenSession.prototype[Symbol.dispose] = FrostKeygenSession.prototype.free;
exports.FrostKeygenSession = FrostKeygenSession;

/**
 * One party's part in an Ed25519 signature by two.
 */
class FrostSignSession {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        FrostSignSessionFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_frostsignsession_free(ptr, 0);
    }
    /**
     * Ends the round; true once the signature is there, false if there is a message to send.
     * @returns {boolean}
     */
    advance() {
        const ret = wasm.frostsignsession_advance(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * Hands out the message for the peer, once.
     * @param {number} to
     * @returns {Uint8Array}
     */
    message(to) {
        const ret = wasm.frostsignsession_message(this.__wbg_ptr, to);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * @param sessionId 32 fresh bytes, equal at both parties
     * @param party own index, 1, 2 or 3
     * @param peer the other signer's index
     * @param share what key generation gave this party
     * @param message what to sign, 1 to 65,536 bytes
     * @param {Uint8Array | number[]} sessionId
     * @param {number} party
     * @param {number} peer
     * @param {Uint8Array | number[]} share
     * @param {Uint8Array | number[]} message
     */
    constructor(sessionId, party, peer, share, message) {
        const val4 = +party;
        const val5 = +peer;
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passArray8ToWasm0(sessionId, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArray8ToWasm0(share, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passArray8ToWasm0(message, wasm.__wbindgen_malloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.frostsignsession_new(ptr0, len0, val4, val5, ptr1, len1, ptr2, len2);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        FrostSignSessionFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * The peers, each of whom sends and gets one message a round.
     * @returns {Uint8Array}
     */
    get peers() {
        const ret = wasm.frostsignsession_peers(this.__wbg_ptr);
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Takes the peer's message of the current round.
     * @param {number} from
     * @param {Uint8Array | number[]} message
     */
    receive(from, message) {
        const val2 = +from;
        const ptr0 = passArray8ToWasm0(message, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.frostsignsession_receive(this.__wbg_ptr, val2, ptr0, len0);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Message rounds, fixed.
     * @returns {number}
     */
    get rounds() {
        const ret = wasm.frostsignsession_rounds(this.__wbg_ptr);
        return ret;
    }
    /**
     * R (32 bytes) followed by S (32 bytes), as in RFC 8032.
     * @returns {Uint8Array}
     */
    get signature() {
        const ret = wasm.frostsignsession_signature(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Makes the message of round 1.
     */
    start() {
        const ret = wasm.frostsignsession_start(this.__wbg_ptr);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
}
if (Symbol.dispose) FrostSignSession.prototype[Symbol.dispose] = FrostSignSession.prototype.free;
exports.FrostSignSession = FrostSignSession;

/**
 * One party's part in generating a two-of-three key.
 */
class KeygenSession {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        KeygenSessionFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_keygensession_free(ptr, 0);
    }
    /**
     * Ends the round; true once the key is there, false if there are messages to send.
     * @returns {boolean}
     */
    advance() {
        const ret = wasm.keygensession_advance(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * BIP-32 chain code of the group key, 32 bytes.
     * @returns {Uint8Array}
     */
    get chainCode() {
        const ret = wasm.keygensession_chainCode(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Hands out the message for a peer, once.
     * @param {number} to
     * @returns {Uint8Array}
     */
    message(to) {
        const ret = wasm.keygensession_message(this.__wbg_ptr, to);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * @param party 1, 2 or 3
     * @param sessionId 32 fresh bytes, equal at all three parties
     * @param {number} party
     * @param {Uint8Array | number[]} sessionId
     */
    constructor(party, sessionId) {
        const val2 = +party;
        const ptr0 = passArray8ToWasm0(sessionId, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.keygensession_new(val2, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        KeygenSessionFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * The peers, each of whom sends and gets one message a round.
     * @returns {Uint8Array}
     */
    get peers() {
        const ret = wasm.keygensession_peers(this.__wbg_ptr);
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Group public key, 33 bytes, SEC1 compressed.
     * @returns {Uint8Array}
     */
    get publicKey() {
        const ret = wasm.keygensession_publicKey(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Takes a peer's message of the current round.
     * @param {number} from
     * @param {Uint8Array | number[]} message
     */
    receive(from, message) {
        const val2 = +from;
        const ptr0 = passArray8ToWasm0(message, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.keygensession_receive(this.__wbg_ptr, val2, ptr0, len0);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Message rounds, fixed.
     * @returns {number}
     */
    get rounds() {
        const ret = wasm.keygensession_rounds(this.__wbg_ptr);
        return ret;
    }
    /**
     * This party's secret share, about 105 KB.
     * @returns {Uint8Array}
     */
    get share() {
        const ret = wasm.keygensession_share(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Makes the messages of round 1.
     */
    start() {
        const ret = wasm.keygensession_start(this.__wbg_ptr);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
}
if (Symbol.dispose) KeygenSession.prototype[Symbol.dispose] = KeygenSession.prototype.free;
exports.KeygenSession = KeygenSession;

/**
 * One party's part in a signature by two.
 */
class SignSession {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        SignSessionFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_signsession_free(ptr, 0);
    }
    /**
     * Ends the round; true once the signature is there, false if there is a message to send.
     * @returns {boolean}
     */
    advance() {
        const ret = wasm.signsession_advance(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] !== 0;
    }
    /**
     * Hands out the message for the peer, once.
     * @param {number} to
     * @returns {Uint8Array}
     */
    message(to) {
        const ret = wasm.signsession_message(this.__wbg_ptr, to);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * @param sessionId 32 fresh bytes, equal at both parties
     * @param party own index, 1, 2 or 3
     * @param peer the other signer's index
     * @param share what key generation gave this party
     * @param path child to sign with, such as `m/60/0`, or `m`
     * @param digest the 32 bytes to sign
     * @param {Uint8Array | number[]} sessionId
     * @param {number} party
     * @param {number} peer
     * @param {Uint8Array | number[]} share
     * @param {string} path
     * @param {Uint8Array | number[]} digest
     */
    constructor(sessionId, party, peer, share, path, digest) {
        const val5 = +party;
        const val6 = +peer;
        let ptr0, len0, ptr1, len1, ptr2, len2, ptr3, len3;
        try {
            ptr0 = passArray8ToWasm0(sessionId, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArray8ToWasm0(share, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len2 = WASM_VECTOR_LEN;
            ptr3 = passArray8ToWasm0(digest, wasm.__wbindgen_malloc);
            len3 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr3) { wasm.__wbindgen_free(ptr3, len3 * 1, 1); }
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 1, 1); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.signsession_new(ptr0, len0, val5, val6, ptr1, len1, ptr2, len2, ptr3, len3);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        this.__wbg_ptr = ret[0];
        SignSessionFinalization.register(this, this.__wbg_ptr, this);
        return this;
    }
    /**
     * The peers, each of whom sends and gets one message a round.
     * @returns {Uint8Array}
     */
    get peers() {
        const ret = wasm.signsession_peers(this.__wbg_ptr);
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Takes the peer's message of the current round.
     * @param {number} from
     * @param {Uint8Array | number[]} message
     */
    receive(from, message) {
        const val2 = +from;
        const ptr0 = passArray8ToWasm0(message, wasm.__wbindgen_malloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.signsession_receive(this.__wbg_ptr, val2, ptr0, len0);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * 0 to 3.
     * @returns {number}
     */
    get recoveryId() {
        const ret = wasm.signsession_recoveryId(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0];
    }
    /**
     * Message rounds, fixed.
     * @returns {number}
     */
    get rounds() {
        const ret = wasm.signsession_rounds(this.__wbg_ptr);
        return ret;
    }
    /**
     * r (32 bytes) followed by s (32 bytes, low).
     * @returns {Uint8Array}
     */
    get signature() {
        const ret = wasm.signsession_signature(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayU8FromWasm0(ret[0], ret[1]).slice();
        wasm.__wbindgen_free(ret[0], ret[1] * 1, 1);
        return v1;
    }
    /**
     * Makes the message of round 1.
     */
    start() {
        const ret = wasm.signsession_start(this.__wbg_ptr);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
}
if (Symbol.dispose) SignSession.prototype[Symbol.dispose] = SignSession.prototype.free;
exports.SignSession = SignSession;

/**
 * Makes a panic tell where it happened. Its message is left out, for it may quote a value.
 */
function on_load() {
    wasm.on_load();
}
exports.on_load = on_load;
function __wbg_get_imports() {
    const import0 = {
        __proto__: null,
        __wbg___wbindgen_throw_4c88d8bf264fd984: function(arg0, arg1) {
            throw new Error(getStringFromWasm0(arg0, arg1));
        },
        __wbg_getRandomValues_8b6f1f663e6f188d: function() { return handleError(function (arg0, arg1) {
            globalThis.crypto.getRandomValues(getArrayU8FromWasm0(arg0, arg1));
        }, arguments); },
        __wbg_new_787b9fb330d55d78: function(arg0, arg1) {
            const ret = new Error(getStringFromWasm0(arg0, arg1));
            return ret;
        },
        __wbg_set_2793479888329cb6: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = Reflect.set(arg0, arg1, arg2);
            return ret;
        }, arguments); },
        __wbindgen_generic_0000000000000001: function(arg0) {
            // Cast intrinsic for `F64 -> Externref`.
            const ret = arg0;
            return ret;
        },
        __wbindgen_generic_0000000000000002: function(arg0, arg1) {
            // Cast intrinsic for `Ref(String) -> Externref`.
            const ret = getStringFromWasm0(arg0, arg1);
            return ret;
        },
        __wbindgen_init_externref_table: function() {
            const table = wasm.__wbindgen_externrefs;
            table.set(0, undefined);
            table.set(1024, undefined);
            table.set(1025, null);
            table.set(1026, true);
            table.set(1027, false);
        },
    };
    return {
        __proto__: null,
        "./threshold_bg.js": import0,
    };
}

const FrostKeygenSessionFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_frostkeygensession_free(ptr, 1));
const FrostSignSessionFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_frostsignsession_free(ptr, 1));
const KeygenSessionFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_keygensession_free(ptr, 1));
const SignSessionFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_signsession_free(ptr, 1));

function addToExternrefTable0(obj) {
    const idx = wasm.__externref_table_alloc();
    wasm.__wbindgen_externrefs.set(idx, obj);
    return idx;
}

function getArrayU8FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint8ArrayMemory0().subarray(ptr / 1, ptr / 1 + len);
}

function getStringFromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return decodeText(getUint8ArrayMemory0().subarray(ptr, ptr + len));
}

let cachedUint8ArrayMemory0 = null;
function getUint8ArrayMemory0() {
    if (cachedUint8ArrayMemory0 === null || cachedUint8ArrayMemory0.byteLength === 0) {
        cachedUint8ArrayMemory0 = new Uint8Array(wasm.memory.buffer);
    }
    return cachedUint8ArrayMemory0;
}

function handleError(f, args) {
    try {
        return f.apply(this, args);
    } catch (e) {
        const idx = addToExternrefTable0(e);
        wasm.__wbindgen_exn_store(idx);
    }
}

function passArray8ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 1, 1) >>> 0;
    getUint8ArrayMemory0().set(arg, ptr / 1);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passStringToWasm0(arg, malloc, realloc) {
    if (realloc === undefined) {
        const buf = cachedTextEncoder.encode(arg);
        const ptr = malloc(buf.length, 1) >>> 0;
        getUint8ArrayMemory0().subarray(ptr, ptr + buf.length).set(buf);
        WASM_VECTOR_LEN = buf.length;
        return ptr;
    }

    let len = arg.length;
    let ptr = malloc(len, 1) >>> 0;

    const mem = getUint8ArrayMemory0();

    let offset = 0;

    for (; offset < len; offset++) {
        const code = arg.charCodeAt(offset);
        if (code > 0x7F) break;
        mem[ptr + offset] = code;
    }
    if (offset !== len) {
        if (offset !== 0) {
            arg = arg.slice(offset);
        }
        ptr = realloc(ptr, len, len = offset + arg.length * 3, 1) >>> 0;
        const view = getUint8ArrayMemory0().subarray(ptr + offset, ptr + len);
        const ret = cachedTextEncoder.encodeInto(arg, view);

        offset += ret.written;
        ptr = realloc(ptr, len, offset, 1) >>> 0;
    }

    WASM_VECTOR_LEN = offset;
    return ptr;
}

function takeFromExternrefTable0(idx) {
    const value = wasm.__wbindgen_externrefs.get(idx);
    wasm.__externref_table_dealloc(idx);
    return value;
}

let cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
cachedTextDecoder.decode();
function decodeText(bytes) {
    return cachedTextDecoder.decode(bytes);
}

const cachedTextEncoder = new TextEncoder();

if (!('encodeInto' in cachedTextEncoder)) {
    cachedTextEncoder.encodeInto = function (arg, view) {
        const buf = cachedTextEncoder.encode(arg);
        view.set(buf);
        return {
            read: arg.length,
            written: buf.length
        };
    };
}

let WASM_VECTOR_LEN = 0;

const wasmPath = `${__dirname}/threshold_bg.wasm`;
const wasmBytes = require('fs').readFileSync(wasmPath);
const wasmModule = new WebAssembly.Module(wasmBytes);
let wasmInstance = new WebAssembly.Instance(wasmModule, __wbg_get_imports());
let wasm = wasmInstance.exports;
wasm.__wbindgen_start();
