/**
 * Own servers and projects that count towards the plan of a workspace: on Free those of every free one of its owners.
 * All count that are not gone yet: a project whose deletion fails is there again.
 */
export const sql = `
/* Runs as its caller: only the counts below see the owners' other workspaces. */
create function workspaces_of_plan(of_workspace integer, owners integer[]) returns setof integer language sql stable as $$
  select of_workspace
  union select w.id from membership m join workspace w on w.id = m.workspace_id
    where m.role = 'Owner' and w.plan = 'Free' and m.user_id = any(owners)
$$;

create function own_servers_under(of_workspace integer, owners integer[]) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from instance i
  where i.workspace_id in (select workspaces_of_plan(of_workspace, owners))
    and i.kind = 'self-hosted' and i.closed_at is null
$$;

create function projects_under(of_workspace integer, owners integer[]) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from project p
  where p.workspace_id in (select workspaces_of_plan(of_workspace, owners))
    and p.closed_at is null
$$;
`;
