/** Buckets and objects of the S3 service; the storages of workspaces that own them. */
export const sql = `
create table s3_bucket (
  id integer generated always as identity primary key,
  name text not null check (name ~ '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$'),
  workspace_id integer references workspace,
  admin_owner text,
  location text not null,
  quota_bytes bigint check (quota_bytes >= 0),
  used_bytes bigint not null default 0 check (used_bytes >= 0),
  object_count bigint not null default 0 check (object_count >= 0),
  is_platforms boolean not null default false,
  cors jsonb not null default '[]',
  created_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  check ((workspace_id is null) = (admin_owner is not null))
) with (fillfactor = 50);
create unique index s3_bucket_name on s3_bucket (name) where closed_at is null;
create index s3_bucket_workspace on s3_bucket (workspace_id);

create table s3_key (
  id integer generated always as identity primary key,
  access_key_id text not null unique,
  secret_sealed text not null,
  purpose text not null check (purpose in ('person', 'browser', 'share', 'admin')),
  workspace_id integer references workspace,
  bucket_id integer references s3_bucket,
  admin_owner text,
  title text not null,
  mode text not null check (mode in ('read-only', 'read-write')),
  prefix text not null default '',
  made_by integer references app_user on delete set null,
  api_token_id integer references api_token on delete set null,
  outlives_maker boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  replaced_by integer references s3_key,
  check ((purpose = 'admin') = (bucket_id is null)),
  check ((purpose = 'admin') = (admin_owner is not null)),
  check ((workspace_id is null) = (purpose = 'admin'))
) with (fillfactor = 70);
create index s3_key_bucket on s3_key (bucket_id) where revoked_at is null;
create index s3_key_maker on s3_key (made_by, workspace_id) where revoked_at is null;

create table s3_blob (
  id uuid primary key,
  bucket_id integer not null references s3_bucket,
  location text not null,
  state text not null default 'writing' check (state in ('writing', 'stored', 'doomed')),
  size bigint not null default 0 check (size >= 0),
  owner integer,
  created_at timestamptz not null default clock_timestamp()
) with (fillfactor = 70);
create index s3_blob_unsettled on s3_blob (created_at) where state <> 'stored';
create index s3_blob_bucket on s3_blob (bucket_id);

create table s3_object (
  bucket_id integer not null references s3_bucket,
  /* The order of its bytes is the order of a listing. */
  key bytea not null check (length(key) between 1 and 1024),
  size bigint not null check (size >= 0),
  etag text not null,
  checksum jsonb,
  headers jsonb not null default '{}',
  metadata jsonb not null default '{}',
  -- Not jsonb: keeps the order of the tags.
  tags json not null default '{}',
  modified_at timestamptz not null default clock_timestamp(),
  blobs uuid[] not null,
  blob_sizes bigint[] not null,
  upload_id uuid,
  primary key (bucket_id, key),
  check (cardinality(blobs) = cardinality(blob_sizes))
);

create table s3_upload (
  id uuid primary key,
  bucket_id integer not null references s3_bucket,
  key bytea not null check (length(key) between 1 and 1024),
  checksum jsonb,
  headers jsonb not null default '{}',
  metadata jsonb not null default '{}',
  -- Not jsonb: keeps the order of the tags.
  tags json not null default '{}',
  started_at timestamptz not null default clock_timestamp()
);
create index s3_upload_list on s3_upload (bucket_id, key, started_at, id);

create table s3_part (
  upload_id uuid not null references s3_upload on delete cascade,
  number integer not null check (number between 1 and 10000),
  blob_id uuid not null references s3_blob,
  size bigint not null check (size >= 0),
  etag text not null,
  checksum jsonb,
  modified_at timestamptz not null default clock_timestamp(),
  primary key (upload_id, number)
);
/* Asked when a blob's row is deleted. */
create index s3_part_blob on s3_part (blob_id);

create table storage (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspace,
  kind text not null check (kind in ('storage', 'log')),
  slug text not null,
  title text not null,
  size_gb integer not null check (size_gb between 1 and 10000),
  location text not null,
  price_per_month bigint not null check (price_per_month >= 0),
  bucket_id integer references s3_bucket,
  instance_id integer references instance,
  created_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  status text not null,
  status_since timestamptz not null default clock_timestamp(),
  status_seen_at timestamptz,
  status_deadline timestamptz,
  status_reason text,
  desired text not null default 'kept' check (desired in ('kept', 'gone')),
  gen integer not null default 1,
  lock_token uuid,
  lock_owner integer,
  lock_expires_at timestamptz,
  next_at timestamptz default clock_timestamp(),
  attempts integer not null default 0,
  last_error text,
  check ((kind = 'log') = (instance_id is not null))
) with (fillfactor = 70);
create unique index storage_slug on storage (slug) where closed_at is null;
create unique index storage_of_instance on storage (instance_id);
create index storage_list on storage (workspace_id, created_at desc, id desc) where closed_at is null;
create index storage_due on storage (next_at) where next_at is not null;
create index storage_lease on storage (lock_expires_at) where lock_expires_at is not null;
create trigger status_moves before update of status on storage for each row execute function check_status_move('storage');

create table storage_sample (
  storage_id integer not null references storage,
  at timestamptz not null,
  used_bytes bigint not null,
  object_count bigint not null,
  primary key (storage_id, at)
);

create table storage_share (
  id integer generated always as identity primary key,
  storage_id integer not null references storage,
  key_id integer not null unique references s3_key,
  token_hash bytea not null unique,
  object_key bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
create index storage_share_list on storage_share (storage_id, id);

/* GB of the storages of a workspace, and of the Free workspaces of its owners, that are not being deleted. */
create function storage_gb_under(of_workspace integer, owners integer[]) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(s.size_gb), 0)::integer from storage s
  where s.workspace_id in (
      select of_workspace
      union select w.id from membership m join workspace w on w.id = m.workspace_id
        where m.role = 'Owner' and w.plan = 'Free' and m.user_id = any(owners))
    and s.kind = 'storage' and s.closed_at is null and s.desired = 'kept' and s.status <> 'creation failed'
$$;
`;
