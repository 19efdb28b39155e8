/** What operators add to the catalogue of models, change in it, or hide of it. The catalogue itself is checked in. */
export const sql = `
create table catalogue_change (
  id integer generated always as identity primary key,
  /* The repository of the model on the hub. */
  model_id text not null unique,
  kind text not null check (kind in ('added', 'changed', 'hidden')),
  /* Of a catalogue entry: all fields of an added one, the changed ones else. */
  fields jsonb not null,
  source jsonb not null,
  note text,
  created_by integer references app_user on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
`;
