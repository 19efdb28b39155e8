/**
 * The addresses of the ports of a deleted container stay with its workspace: a browser may hold a service worker, or
 * stored data, of what was there.
 */
export const sql = `
create table kept_slug (
  slug text primary key,
  workspace_id integer not null references workspace,
  kept_at timestamptz not null default clock_timestamp(),
  /* When one of its ports was last public. */
  public_at timestamptz
);
create index kept_slug_of_workspace on kept_slug (workspace_id, kept_at desc, slug);

/* What was ever true of its ports: a change of them takes nothing back. */
alter table container add column had_ports boolean not null default false;
alter table container add column ports_public_at timestamptz;
update container set had_ports = true,
  ports_public_at = case when ports @> '[{"visibility": "public"}]' then coalesce(deleted_at, now()) end
where ports <> '[]';

create function note_ports() returns trigger language plpgsql as $$
begin
  new.had_ports := new.had_ports or new.ports <> '[]';
  if new.ports @> '[{"visibility": "public"}]' or (tg_op = 'UPDATE' and old.ports @> '[{"visibility": "public"}]') then
    new.ports_public_at := clock_timestamp();
  end if;
  return new;
end $$;
create trigger ports_noted before insert or update of ports, deleted_at on container
  for each row execute function note_ports();

/* The 100 latest of a workspace are kept, and longer what was public in the last 90 days. */
create function trim_kept_slugs(of_workspace integer) returns void language sql as $$
  delete from kept_slug k using (
    select slug from kept_slug where workspace_id = of_workspace order by kept_at desc, slug offset 100
  ) old where k.slug = old.slug and coalesce(k.public_at < now() - interval '90 days', true)
$$;

create function keep_slug() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into kept_slug (slug, workspace_id, public_at) values (new.slug, new.workspace_id, new.ports_public_at)
  on conflict (slug) do update set workspace_id = excluded.workspace_id, kept_at = clock_timestamp(),
    public_at = greatest(kept_slug.public_at, excluded.public_at);
  perform trim_kept_slugs(new.workspace_id);
  return null;
end $$;
create trigger slug_kept after update of deleted_at on container for each row
  when (old.deleted_at is null and new.deleted_at is not null and new.had_ports) execute function keep_slug();

/* As if the Unique ID were in use: the row is not inserted. */
create function refuse_kept_slug() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from kept_slug where slug = new.slug and workspace_id <> new.workspace_id) then return null; end if;
  return new;
end $$;
create trigger slug_free before insert on container for each row execute function refuse_kept_slug();

/* It may have been given free while this row waited for it. To be tried again: then it is refused as above. */
create function take_back_slug() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from kept_slug where slug = new.slug and workspace_id <> new.workspace_id) then
    raise exception 'the Unique ID % stays with another workspace', new.slug using errcode = 'serialization_failure';
  end if;
  delete from kept_slug where slug = new.slug;
  return null;
end $$;
create trigger slug_taken_back after insert on container for each row execute function take_back_slug();

insert into kept_slug (slug, workspace_id, kept_at, public_at)
select distinct on (slug) slug, workspace_id, deleted_at, ports_public_at from container c
where deleted_at is not null and had_ports
  and not exists (select from container live where live.slug = c.slug and live.deleted_at is null)
order by slug, deleted_at desc;
select trim_kept_slugs(workspace_id) from (select distinct workspace_id from kept_slug) w;
`;
