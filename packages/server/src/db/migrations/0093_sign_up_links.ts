/** Links that people sign up with where not everybody may, and the invitation that a begun registration came with. */
export const sql = `
create table sign_up_link (
  id int generated always as identity primary key,
  /* The code itself is in the link alone. */
  hash bytea not null unique,
  note text not null default '',
  used int not null default 0,
  uses_max int not null check (uses_max > 0),
  expires_at timestamptz not null,
  created_by int references app_user,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  check (used between 0 and uses_max)
);
create index sign_up_link_created_by on sign_up_link (created_by);
alter table pending_registration add column invite_hash bytea;
`;
