/** Against hangs, not against slowness: a machine that is busy with something else must not fail a test. */
jest.setTimeout(60_000);
