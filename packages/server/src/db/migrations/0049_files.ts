/**
 * Pictures and screenshots move out of the database, to the store of `ctx.files`. What `content` still holds is moved in
 * the background (`files/moveIn.ts`).
 */
export const sql = `
create table stored_file (
  id uuid primary key,
  /* writing: an intent; doomed: its bytes are to be removed. */
  state text not null default 'writing' check (state in ('writing', 'stored', 'doomed')),
  size integer not null default 0 check (size >= 0),
  created_at timestamptz not null default clock_timestamp()
) with (fillfactor = 70);
create index stored_file_unsettled on stored_file (created_at) where state <> 'stored';

alter table user_picture
  alter column content drop not null,
  add column file_id uuid unique references stored_file,
  add check ((content is null) <> (file_id is null));
create index user_picture_to_move on user_picture (user_id) where content is not null;

alter table feedback_image
  alter column content drop not null,
  add column file_id uuid unique references stored_file,
  add check ((content is null) <> (file_id is null));
create index feedback_image_to_move on feedback_image (feedback_id, position) where content is not null;

/* However a row ends, also with its person or by its age, its file ends with it. */
create function doom_file() returns trigger language plpgsql as $$
begin
  update stored_file set state = 'doomed' where id = old.file_id;
  return null;
end $$;
create trigger doom_file after delete on user_picture for each row when (old.file_id is not null) execute function doom_file();
create trigger doom_file after delete on feedback_image for each row when (old.file_id is not null) execute function doom_file();
`;
