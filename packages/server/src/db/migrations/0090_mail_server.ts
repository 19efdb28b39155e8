/** The last state that workers found the mail server in (mail/mailServer.ts): one row. */
export const sql = `
create table mail_server (
  id boolean primary key default true check (id),
  state text not null check (state in ('reached', 'failing')),
  reason text,
  /* The error's own words, without the password. */
  detail text,
  /* The start of this state. */
  since timestamptz not null default now(),
  checked_at timestamptz not null default now(),
  check ((state = 'failing') = (reason is not null))
);
`;
