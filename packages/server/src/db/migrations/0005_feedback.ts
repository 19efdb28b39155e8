export const sql = `
create table feedback (
  id integer generated always as identity primary key,
  user_id integer not null references app_user,
  topic text not null,
  subject text not null,
  description text not null,
  contact_email text,
  user_agent text,
  created_at timestamptz not null default now()
);
create index feedback_list on feedback (created_at desc, id desc);

/* What was drawn anew from an upload; the upload itself is kept nowhere. Deleted after 180 days. */
create table feedback_image (
  feedback_id integer not null references feedback on delete cascade,
  position smallint not null,
  file_name text not null,
  mime_type text not null check (mime_type in ('image/png', 'image/jpeg')),
  width integer not null,
  height integer not null,
  content bytea not null,
  created_at timestamptz not null default now(),
  primary key (feedback_id, position)
);
create index feedback_image_age on feedback_image (created_at);

/* Waits here until its job has handed it on. */
create table analytics_event (
  id integer generated always as identity primary key,
  host text not null,
  visitor text not null,
  identifier text,
  /* Null: the properties are those of the person. */
  name text,
  properties jsonb not null,
  tries integer not null default 0,
  created_at timestamptz not null default now()
);
create index analytics_event_age on analytics_event (created_at);
`;
