/** Detects hangs, not slowness: a busy machine must not fail a test. */
jest.setTimeout(60_000);
