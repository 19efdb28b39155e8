/** The servers that a credential was entered for: another one, whoever attaches it, does not get the password. */
export const sql = `
/* All rented ones: who enters it may manage them. */
alter table registry_credential add column for_rented boolean not null default true;
alter table registry_credential add column own_servers integer[] not null default '{}';
update registry_credential c set own_servers = coalesce((select array_agg(i.id order by i.id) from instance i
  where i.workspace_id = c.workspace_id and i.kind = 'self-hosted' and i.closed_at is null), '{}');
`;
