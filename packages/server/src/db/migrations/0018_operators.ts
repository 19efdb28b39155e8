/** What operators find people and workspaces by among millions, and why they shut them out. */
export const sql = `
create extension if not exists pg_trgm;

alter table app_user add column disabled_reason text, add column disabled_by integer references app_user;
alter table workspace add column disabled_reason text, add column disabled_by integer references app_user;

/*
 * In small letters, each sign beyond ASCII as its number in capitals, which nothing else is written in: trigrams know
 * only what the database's locale calls a letter, and in many that is ASCII alone.
 */
create function search_form(t text) returns text language sql immutable strict parallel safe as $$
  select case when lower(t) ~ '^[\\x01-\\x7f]*$' then lower(t) else (
    select string_agg(case when ascii(sign) < 128 then sign else
        'Z' || translate(lpad(to_hex(ascii(sign)), 6, '0'), '0123456789abcdef', 'ABCDEFGHIJKLMNOP') end, '' order by place)
    from string_to_table(lower(t), null) with ordinality as signs (sign, place)) end
$$;

/* Each on a line of its own: what is typed has no line breaks, so that nothing matches across them. */
alter table app_user add column search text not null
  generated always as (E'\\n' || search_form(name) || E'\\n' || search_form(email)) stored;
alter table workspace add column search text not null generated always as (E'\\n' || search_form(name)) stored;
create index app_user_search on app_user using gin (search gin_trgm_ops);
create index workspace_search on workspace using gin (search gin_trgm_ops);

/* An order each, with all that these lists are narrowed by: whoever looks for a hundredth of all reads an index alone. */
create index app_user_age on app_user (created_at desc, id desc)
  include (search, disabled_at, deleted_at, email_verified_at, is_employee);
create index app_user_name on app_user (name, id)
  include (search, disabled_at, deleted_at, email_verified_at, is_employee);
create index app_user_email on app_user (email, id)
  include (search, disabled_at, deleted_at, email_verified_at, is_employee);
create index app_user_address on app_user (email text_pattern_ops);
create index app_user_closed on app_user (created_at desc, id desc)
  include (deleted_at, email_verified_at, is_employee) where disabled_at is not null;
create index app_user_closed_name on app_user (name, id)
  include (deleted_at, email_verified_at, is_employee) where disabled_at is not null;
create index app_user_closed_email on app_user (email, id)
  include (deleted_at, email_verified_at, is_employee) where disabled_at is not null;
create index app_user_staff on app_user (id) where is_employee;
create index app_user_unverified on app_user (created_at desc, id desc)
  include (disabled_at, deleted_at, is_employee) where email_verified_at is null;
create index app_user_unverified_name on app_user (name, id)
  include (disabled_at, deleted_at, is_employee) where email_verified_at is null;
create index workspace_age on workspace (created_at desc, id desc) include (search, plan, disabled_at, deleted_at);
create index workspace_name on workspace (name, id) include (search, plan, disabled_at, deleted_at);
create index workspace_plan on workspace (plan, created_at desc, id desc) include (disabled_at, deleted_at);
create index workspace_plan_name on workspace (plan, name, id) include (disabled_at, deleted_at);
create index workspace_closed on workspace (created_at desc, id desc) include (plan, deleted_at)
  where disabled_at is not null;
create index workspace_closed_name on workspace (name, id) include (plan, deleted_at) where disabled_at is not null;
/* Who owns a workspace, or has any rare role, among however many members. */
create index membership_role on membership (workspace_id, role, user_id);
drop index membership_list;
create index membership_list on membership (workspace_id, created_at desc, user_id desc) include (role);
/* Whether somebody who was found by their name is a member, and since when. */
create index membership_of on membership (workspace_id, user_id) include (role, created_at);
create index app_user_words on app_user (id) include (search);
/* Most people own one workspace: that says nothing of the roles in a large one. */
create statistics membership_roles (mcv) on workspace_id, role from membership;
`;
