/** What the policies of `isolation.ts` stand on: the workspace of the moment, and the few things that look beyond it. */
export const sql = `
create function refuse_without_workspace() returns integer language plpgsql stable parallel safe as $$
begin
  raise exception 'a call that is made in no workspace came across rows of one' using errcode = 'insufficient_privilege',
    hint = 'name it in http/reach.ts if it is to look beyond one workspace';
end $$;

/* Null while nothing is said: then no row is anybody's. */
create function current_workspace() returns integer language sql stable parallel safe as $$
  select case current_setting('stagi.workspace', true)
    when 'none' then refuse_without_workspace()
    else nullif(current_setting('stagi.workspace', true), '')::integer end
$$;

/* A journal books from and to accounts of the platform too, of which calls see nothing else. */
create function accounts_named(codes text[]) returns table (id bigint, code text)
language sql stable security definer set search_path = public, pg_temp as $$
  select account.id, account.code from account where account.code = any(codes)
$$;

create function is_foreign_journal(of_id bigint) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select current_workspace() is null
    or exists (select from journal j where j.id = of_id and j.client_id is distinct from current_workspace())
$$;

/* A code is good once for a person, in whichever workspace. */
create function promo_code_was_used(of_code integer, by_user integer, by_mark bytea) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (select from promo_activation p
    where p.promo_code_id = of_code and (p.activated_by = by_user or p.person_mark = by_mark))
$$;

/* Rented servers that count towards the plan of a free workspace: those of every free one of its owners. */
create function rented_under(of_workspace integer, owners integer[], with_gpu boolean, released text[]) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from instance i
  where i.workspace_id in (
      select of_workspace
      union select w.id from membership m join workspace w on w.id = m.workspace_id
        where m.role = 'Owner' and w.plan = 'Free' and m.user_id = any(owners))
    and i.kind = 'rented' and i.closed_at is null and not i.status = any(released)
    and (jsonb_typeof(i.offer -> 'gpu') = 'object') = with_gpu
$$;
`;
