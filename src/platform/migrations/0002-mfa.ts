/** Second factors of users. */
export const mfaTables = /* sql */ `
create table user_totp (
  user_id uuid primary key references users,
  -- sealed by SecretBox
  secret bytea not null,
  -- null while the enrolment waits for its first code: does not count yet
  confirmed_at timestamptz,
  failures integer not null default 0 check (failures >= 0),
  locked_until timestamptz,
  created_at timestamptz not null default now()
);

-- Time steps whose code was accepted, and what for (sha256): none is accepted twice.
create table totp_steps (
  user_id uuid not null references user_totp on delete cascade,
  step bigint not null,
  act bytea not null check (length(act) = 32),
  primary key (user_id, step)
);

create table totp_recovery_codes (
  user_id uuid not null references user_totp on delete cascade,
  code_hash bytea not null check (length(code_hash) = 32),
  used_at timestamptz,
  primary key (user_id, code_hash)
);
`;
