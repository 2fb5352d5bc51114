/** Request budgets. */
export const limitTables = /* sql */ `
-- Requests of the current window by client and by address, shared by all API processes; written by the rate limiter.
-- Unlogged: after a crash everybody starts with a whole budget, and counting never waits for the log.
create unlogged table request_budgets (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
`;
