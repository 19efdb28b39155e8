/**
 * Who looks for a text along an order of millions skips the parts of it that hold no such text: a data-skipping index
 * over blocks of the order, as column stores keep them (`skipIndex/`).
 */
export const sql = `
create table skip_index (
  id integer primary key generated always as identity,
  of_table text not null check (of_table in ('app_user', 'workspace', 'membership')),
  /* Of members: whose. 0 for lists of all there are. */
  workspace_id integer not null,
  sorted_by text not null,
  /* Block 0 stands before the first of them, block n from the nth on. */
  lows text[] not null,
  row_count integer not null,
  changes integer not null default 0,
  unique (of_table, workspace_id, sorted_by)
);
/* Which blocks have three signs in a row; such as have had them may be among them. */
create table skip_term (
  skip_index_id integer not null references skip_index on delete cascade,
  term integer not null,
  blocks bit(1024) not null,
  primary key (skip_index_id, term)
);
/* Rows that no index may know of yet, written with them. */
create table skip_news (
  id bigint primary key generated always as identity,
  of_table text not null,
  workspace_id integer not null,
  row_id integer not null
);
create index skip_news_list on skip_news (of_table, workspace_id) include (row_id);

create function tell_skip_indexes() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_table_name = 'membership' then
    insert into skip_news (of_table, workspace_id, row_id) values ('membership', new.workspace_id, new.user_id);
  else
    insert into skip_news (of_table, workspace_id, row_id) values (tg_table_name, 0, new.id);
  end if;
  return null;
end $$;
create trigger skip_news after insert on app_user for each row execute function tell_skip_indexes();
create trigger skip_news after insert on workspace for each row execute function tell_skip_indexes();
create trigger skip_news after insert on membership for each row execute function tell_skip_indexes();
/* Of any update: other triggers may have changed more than its statement says. */
create trigger skip_news_again after update on app_user for each row
  when ((old.name, old.email, old.created_at) is distinct from (new.name, new.email, new.created_at))
  execute function tell_skip_indexes();
create trigger skip_news_again after update on workspace for each row
  when ((old.name, old.created_at) is distinct from (new.name, new.created_at)) execute function tell_skip_indexes();
create trigger skip_news_again after update on membership for each row
  when ((old.workspace_id, old.user_id, old.name, old.email, old.created_at)
    is distinct from (new.workspace_id, new.user_id, new.name, new.email, new.created_at))
  execute function tell_skip_indexes();
`;
