/** One row: by what the processes and the data folder of this platform know that they belong together. */
export const sql = `
create table installation (
  id uuid primary key default gen_random_uuid(),
  data_folder uuid not null,
  environment text not null,
  key_id text not null,
  app_origin text not null,
  daemon_origin text,
  version text not null,
  created_at timestamptz not null default now()
);
create unique index installation_single on installation ((true));
`;
