/** Search in a log: whose it is, is asked once, where a policy would ask it of every line that is looked at. */
export const sql = `
create function log_lines_found(
  of_container integer, text_like text, text_matches text, first_seq bigint, last_seq bigint, from_ns bigint, to_ns bigint,
  forward boolean, most integer)
returns setof log_line language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  perform 1 from container c where c.id = of_container and c.workspace_id = current_workspace();
  if not found then return; end if;
  if forward then
    return query select l.* from log_line l
      where l.container_id = of_container and l.seq between first_seq and last_seq and l.time_ns between from_ns and to_ns
        and case when text_matches is null then l.text ilike text_like else l.text ~* text_matches end
      order by l.seq limit most;
  else
    return query select l.* from log_line l
      where l.container_id = of_container and l.seq between first_seq and last_seq and l.time_ns between from_ns and to_ns
        and case when text_matches is null then l.text ilike text_like else l.text ~* text_matches end
      order by l.seq desc limit most;
  end if;
end $$;
`;
