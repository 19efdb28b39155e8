/** Requests of the contact form, also of visitors without an account. Deleted after 180 days, or with the account. */
export const sql = `
create table contact_request (
  id integer generated always as identity primary key,
  send_key uuid unique,
  topic text not null,
  name text not null,
  email text not null,
  company text,
  message text not null,
  model_id text,
  model_name text,
  gpu text,
  quality text,
  user_id integer references app_user on delete cascade,
  looks_automated boolean not null,
  mailed boolean not null,
  handled_at timestamptz,
  handled_by integer references app_user,
  note text not null default '',
  created_at timestamptz not null default now(),
  check ((model_id is null) = (model_name is null)),
  check ((handled_at is null) = (handled_by is null))
);
create index contact_request_age on contact_request (created_at);
create index contact_request_open on contact_request (id) where handled_at is null;
create index contact_request_user on contact_request (user_id) where user_id is not null;
`;
