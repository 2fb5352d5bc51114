/* tslint:disable */
/* eslint-disable */

/**
 * One party's part in generating a two-of-three Ed25519 key.
 */
export class FrostKeygenSession {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Ends the round; true once the key is there, false if there are messages to send.
     */
    advance(): boolean;
    /**
     * Hands out the message for a peer, once.
     */
    message(to: number): Uint8Array;
    /**
     * @param party 1, 2 or 3
     * @param sessionId 32 fresh bytes, equal at all three parties
     */
    constructor(party: number, sessionId: Uint8Array | number[]);
    /**
     * Takes a peer's message of the current round.
     */
    receive(from: number, message: Uint8Array | number[]): void;
    /**
     * Makes the messages of round 1.
     */
    start(): void;
    /**
     * The peers, each of whom sends and gets one message a round.
     */
    readonly peers: Uint8Array;
    /**
     * Group public key, 32 bytes (RFC 8032).
     */
    readonly publicKey: Uint8Array;
    /**
     * Message rounds, fixed.
     */
    readonly rounds: number;
    /**
     * This party's secret share, 162 bytes.
     */
    readonly share: Uint8Array;
}

/**
 * One party's part in an Ed25519 signature by two.
 */
export class FrostSignSession {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Ends the round; true once the signature is there, false if there is a message to send.
     */
    advance(): boolean;
    /**
     * Hands out the message for the peer, once.
     */
    message(to: number): Uint8Array;
    /**
     * @param sessionId 32 fresh bytes, equal at both parties
     * @param party own index, 1, 2 or 3
     * @param peer the other signer's index
     * @param share what key generation gave this party
     * @param message what to sign, 1 to 65,536 bytes
     */
    constructor(sessionId: Uint8Array | number[], party: number, peer: number, share: Uint8Array | number[], message: Uint8Array | number[]);
    /**
     * Takes the peer's message of the current round.
     */
    receive(from: number, message: Uint8Array | number[]): void;
    /**
     * Makes the message of round 1.
     */
    start(): void;
    /**
     * The peers, each of whom sends and gets one message a round.
     */
    readonly peers: Uint8Array;
    /**
     * Message rounds, fixed.
     */
    readonly rounds: number;
    /**
     * R (32 bytes) followed by S (32 bytes), as in RFC 8032.
     */
    readonly signature: Uint8Array;
}

/**
 * One party's part in generating a two-of-three key.
 */
export class KeygenSession {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Ends the round; true once the key is there, false if there are messages to send.
     */
    advance(): boolean;
    /**
     * Hands out the message for a peer, once.
     */
    message(to: number): Uint8Array;
    /**
     * @param party 1, 2 or 3
     * @param sessionId 32 fresh bytes, equal at all three parties
     */
    constructor(party: number, sessionId: Uint8Array | number[]);
    /**
     * Takes a peer's message of the current round.
     */
    receive(from: number, message: Uint8Array | number[]): void;
    /**
     * Makes the messages of round 1.
     */
    start(): void;
    /**
     * BIP-32 chain code of the group key, 32 bytes.
     */
    readonly chainCode: Uint8Array;
    /**
     * The peers, each of whom sends and gets one message a round.
     */
    readonly peers: Uint8Array;
    /**
     * Group public key, 33 bytes, SEC1 compressed.
     */
    readonly publicKey: Uint8Array;
    /**
     * Message rounds, fixed.
     */
    readonly rounds: number;
    /**
     * This party's secret share, about 105 KB.
     */
    readonly share: Uint8Array;
}

/**
 * One party's part in a signature by two.
 */
export class SignSession {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Ends the round; true once the signature is there, false if there is a message to send.
     */
    advance(): boolean;
    /**
     * Hands out the message for the peer, once.
     */
    message(to: number): Uint8Array;
    /**
     * @param sessionId 32 fresh bytes, equal at both parties
     * @param party own index, 1, 2 or 3
     * @param peer the other signer's index
     * @param share what key generation gave this party
     * @param path child to sign with, such as `m/60/0`, or `m`
     * @param digest the 32 bytes to sign
     */
    constructor(sessionId: Uint8Array | number[], party: number, peer: number, share: Uint8Array | number[], path: string, digest: Uint8Array | number[]);
    /**
     * Takes the peer's message of the current round.
     */
    receive(from: number, message: Uint8Array | number[]): void;
    /**
     * Makes the message of round 1.
     */
    start(): void;
    /**
     * The peers, each of whom sends and gets one message a round.
     */
    readonly peers: Uint8Array;
    /**
     * 0 to 3.
     */
    readonly recoveryId: number;
    /**
     * Message rounds, fixed.
     */
    readonly rounds: number;
    /**
     * r (32 bytes) followed by s (32 bytes, low).
     */
    readonly signature: Uint8Array;
}

/**
 * Makes a panic tell where it happened. Its message is left out, for it may quote a value.
 */
export function on_load(): void;
