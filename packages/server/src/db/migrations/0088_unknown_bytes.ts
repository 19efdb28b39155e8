/** Bytes that lie in a place of the platform and that no row knows (quarantine/). */
export const sql = `
create table unknown_bytes (
  place text not null,
  /* In the order of its bytes, as a place lists its names. */
  name text collate "C" not null,
  bytes bigint,
  found_at timestamptz not null default now(),
  removal_approved_at timestamptz,
  primary key (place, name)
);
create index unknown_bytes_approved on unknown_bytes (place, name) where removal_approved_at is not null;
/* The last comparison of each place. */
create table quarantine_place (
  place text primary key,
  listed bigint not null,
  has_alarm boolean not null,
  compared_at timestamptz not null default now()
);
`;
