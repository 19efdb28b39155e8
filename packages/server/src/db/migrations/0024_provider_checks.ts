/** What operators have asked clouds, and what came of it. */
export const sql = `
create table provider_check (
  id integer generated always as identity primary key,
  provider text not null,
  asked_by integer not null references app_user,
  asked_at timestamptz not null default now(),
  deadline_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  /* In the order in which they ended. */
  steps jsonb not null default '[]'
);
/* One at a time of each cloud. */
create unique index provider_check_open on provider_check (provider) where ended_at is null;
create index provider_check_newest on provider_check (provider, id desc);

/* Of each cloud the newest order that failed. */
create index provider_op_failed on provider_op (finished_at desc) where state = 'failed';

create index feedback_topic on feedback (topic, id desc);
`;
