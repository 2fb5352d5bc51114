/** A test on the whole stack waits for blocks, restarts and key generations; each wait inside has its own, shorter limit. */
jest.setTimeout(900_000);
