/** Who logs in through Google or GitHub: identity = issuer and subject; an address alone is none. */
export const sql = `
create table external_identity (
  issuer text not null,
  subject text not null,
  provider text not null,
  user_id integer not null references app_user on delete cascade,
  email text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  primary key (issuer, subject),
  /* Two accounts of one provider on one of ours: nobody could say which of them is the owner's. */
  unique (user_id, provider)
);

/* The state is known to the browser alone; here is its hash. A row is deleted by the first return that names it. */
create table provider_trip (
  state_hash bytea primary key,
  provider text not null,
  nonce_hash bytea not null,
  verifier_sealed text not null,
  session_id uuid references session on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index provider_trip_expiry on provider_trip (expires_at);
create index provider_trip_session on provider_trip (session_id);
`;
