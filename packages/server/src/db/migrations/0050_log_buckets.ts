/** Log buckets of rented servers: how far the lines of a container are copied, and in which chunks. */
export const sql = `
create table log_copy (
  container_id integer primary key references container on delete cascade,
  storage_id integer not null references storage,
  /* Its folder in the bucket, from its first chunk on. */
  folder text,
  /* Lines up to here belong to a chunk. */
  copied_seq bigint not null default 0,
  /* Chunks with lines up to here were removed from the bucket, as it was full. */
  removed_seq bigint not null default 0,
  removed_at timestamptz,
  next_at timestamptz,
  attempts integer not null default 0,
  lock_token uuid,
  lock_owner integer,
  lock_expires_at timestamptz,
  finished_at timestamptz
) with (fillfactor = 50);
create index log_copy_open on log_copy (container_id) where finished_at is null;
create unique index log_copy_folder on log_copy (storage_id, folder);

create table log_chunk (
  id bigint generated always as identity primary key,
  container_id integer not null references container on delete cascade,
  storage_id integer not null references storage,
  first_seq bigint not null,
  /* One below the first: only gaps. */
  last_seq bigint not null check (last_seq >= first_seq - 1),
  /* The last chunk of a log contains the gaps after its last line, too. */
  is_end boolean not null default false,
  key text not null,
  state text not null default 'intent' check (state in ('intent', 'done')),
  bytes bigint not null default 0,
  lines integer not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (container_id, first_seq),
  unique (storage_id, key)
) with (fillfactor = 80);
create index log_chunk_intent on log_chunk (container_id) where state = 'intent';
create index log_chunk_age on log_chunk (storage_id, id);

/* Bytes of the lines that are stored, with a line feed each: a self-hosted server keeps 10 GB. */
alter table log_head add column kept_bytes bigint not null default 0;
update log_head set kept_bytes = kept.bytes
  from (select container_id, sum(octet_length(text) + 1)::bigint as bytes from log_line group by container_id) as kept
  where kept.container_id = log_head.container_id;

/* Servers that were rented before there were log buckets. */
insert into storage (workspace_id, kind, slug, title, size_gb, location, price_per_month, instance_id, status)
  select workspace_id, 'log', 'log-' || slug || '-' || random_part, title || ' logs', 100, 'local', 0, id, 'renting'
  from instance, lateral (
    select string_agg(substr('abcdefghijklmnopqrstuvwxyz0123456789', 1 + floor(random() * 36)::integer, 1), '') as random_part
    from generate_series(1, 6) where instance.id > 0
  ) as suffix
  where kind = 'rented' and closed_at is null and status <> 'creation failed';
insert into log_copy (container_id, storage_id)
  select container.id, storage.id from log_head
  join container on container.id = log_head.container_id
  join storage on storage.instance_id = container.instance_id;
`;
