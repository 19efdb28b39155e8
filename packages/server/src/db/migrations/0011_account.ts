/** One's picture, a change of address, and the end of an account. */
export const sql = `
/* Drawn anew from an upload. Its name is random: it is the only thing that lets a browser see it. */
create table user_picture (
  user_id integer primary key references app_user on delete cascade,
  name text not null unique,
  mime_type text not null check (mime_type in ('image/png', 'image/jpeg')),
  content bytea not null,
  created_at timestamptz not null default now()
);

/* At most one a person; it ends with the session that began it. */
create table email_change (
  user_id integer primary key references app_user on delete cascade,
  session_id uuid not null references session on delete cascade,
  new_email text not null,
  code_hash text not null,
  tries integer not null default 0,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index email_change_session on email_change (session_id);
create index email_change_expiry on email_change (expires_at);

/* Addresses that had an account, as keyed hashes: starter credit is given once. */
create table former_address (
  hash bytea primary key,
  left_at timestamptz not null default now()
);

create index mail_age on mail (created_at);
create index mail_recipient on mail (recipient);

/*
 * A deleted person's row stays without anything of theirs in it, as the ledger and others' records point to it. Every
 * table whose rows go with the person says so by "on delete cascade"; the rest points to the nameless row.
 */
alter table app_user add column deleted_at timestamptz;
alter table workspace add column deleted_at timestamptz;
alter table membership drop constraint membership_user_id_fkey,
  add constraint membership_user_id_fkey foreign key (user_id) references app_user on delete cascade;
alter table session drop constraint session_user_id_fkey,
  add constraint session_user_id_fkey foreign key (user_id) references app_user on delete cascade;
alter table ssh_key drop constraint ssh_key_user_id_fkey,
  add constraint ssh_key_user_id_fkey foreign key (user_id) references app_user on delete cascade;
alter table feedback drop constraint feedback_user_id_fkey,
  add constraint feedback_user_id_fkey foreign key (user_id) references app_user on delete cascade;
create index feedback_user on feedback (user_id);

/* Whoever closes a workspace holds its row: what is made there at that moment waits, and then finds it closed. */
create function refuse_in_closed_workspace() returns trigger language plpgsql as $$
begin
  perform 1 from workspace where id = new.workspace_id and disabled_at is null for key share;
  if not found then raise exception 'workspace % is closed', new.workspace_id using errcode = 'serialization_failure'; end if;
  return null;
end $$;
create trigger open_workspace after insert on instance for each row execute function refuse_in_closed_workspace();
`;
