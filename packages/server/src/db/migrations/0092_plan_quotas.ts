/**
 * Quotas that an operator sets for one workspace, by kind; null: no limit. What such a workspace has of the kind counts in
 * it alone. Also the journal kind `grant`.
 */
export const sql = `
alter table workspace add column quotas jsonb not null default '{}' check (jsonb_typeof(quotas) = 'object');

drop function workspaces_of_plan(integer, integer[]);
/* Runs as its caller: only the counts below see the owners' other workspaces. */
create function workspaces_of_plan(of_workspace integer, owners integer[], quota text) returns setof integer
language sql stable as $$
  select of_workspace
  union select w.id from membership m join workspace w on w.id = m.workspace_id
    where m.role = 'Owner' and w.plan = 'Free' and not w.quotas ? quota and m.user_id = any(owners)
$$;

create or replace function rented_under(of_workspace integer, owners integer[], with_gpu boolean, released text[])
returns integer language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from instance i
  where i.workspace_id in (select workspaces_of_plan(of_workspace, owners,
      case when with_gpu then 'gpuServers' else 'cpuOnlyServers' end))
    and i.kind = 'rented' and i.closed_at is null and not i.status = any(released)
    and (jsonb_typeof(i.offer -> 'gpu') = 'object') = with_gpu
$$;

create or replace function own_servers_under(of_workspace integer, owners integer[]) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from instance i
  where i.workspace_id in (select workspaces_of_plan(of_workspace, owners, 'ownServers'))
    and i.kind = 'self-hosted' and i.closed_at is null
$$;

create or replace function projects_under(of_workspace integer, owners integer[]) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from project p
  where p.workspace_id in (select workspaces_of_plan(of_workspace, owners, 'projects'))
    and p.closed_at is null
$$;

create or replace function storage_gb_under(of_workspace integer, owners integer[]) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(s.size_gb), 0)::integer from storage s
  where s.workspace_id in (select workspaces_of_plan(of_workspace, owners, 'storageGb'))
    and s.kind = 'storage' and s.closed_at is null and s.desired = 'kept' and s.status <> 'creation failed'
$$;

create or replace function repository_bytes_under(of_workspace integer, owners integer[]) returns bigint
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(sum(p.size_bytes), 0)::bigint from project p
  where p.workspace_id in (select workspaces_of_plan(of_workspace, owners, 'storageGb'))
    and p.closed_at is null
$$;

create or replace function task_runs_under(of_workspace integer, owners integer[], since timestamptz) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from task_run r join task t on t.id = r.task_id
  where r.created_at >= since and t.workspace_id in (select workspaces_of_plan(of_workspace, owners, 'runsPerDay'))
$$;
`;
