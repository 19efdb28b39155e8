/**
 * The column `counted` says what an object, an open upload and a part of one count for: their bytes with the name, the
 * metadata and the tags, and at least 8 KiB. In buckets of the platform (logs) their bytes alone. Triggers fill the
 * column, so that nothing is stored that does not count.
 */
export const sql = `
alter table s3_object add column counted bigint not null default 0 check (counted >= 0);
alter table s3_upload add column counted bigint not null default 0 check (counted >= 0);
alter table s3_part add column counted bigint not null default 0 check (counted >= 0);

/* UTF-8, as the database is. A content type of a usual length is free; longer ones could hold data. */
create function s3_attribute_bytes(headers jsonb, metadata jsonb, tags json) returns bigint
language sql immutable as $$
  select coalesce(sum(octet_length(key) + octet_length(value)), 0)::bigint from (
    select key, value from jsonb_each_text(headers) where key <> 'content-type' or octet_length(value) > 255
    union all select key, value from jsonb_each_text(metadata)
    union all select key, value from json_each_text(tags)) as attribute
$$;

create function s3_counted(of_bucket integer, bytes bigint, besides bigint) returns bigint
language sql stable security definer set search_path = public, pg_temp as $$
  select case when is_platforms then bytes else greatest(8192, bytes + besides) end from s3_bucket where id = of_bucket
$$;

create function count_s3_object() returns trigger language plpgsql as $$
begin
  new.counted := s3_counted(new.bucket_id, new.size,
    length(new.key) + s3_attribute_bytes(new.headers, new.metadata, new.tags));
  return new;
end $$;
create trigger count_bytes before insert or update of size, key, headers, metadata, tags on s3_object
  for each row execute function count_s3_object();

create function count_s3_upload() returns trigger language plpgsql as $$
begin
  new.counted := s3_counted(new.bucket_id, 0,
    length(new.key) + s3_attribute_bytes(new.headers, new.metadata, new.tags));
  return new;
end $$;
create trigger count_bytes before insert or update of key, headers, metadata, tags on s3_upload
  for each row execute function count_s3_upload();

create function count_s3_part() returns trigger language plpgsql as $$
begin
  new.counted := s3_counted((select bucket_id from s3_upload where id = new.upload_id), new.size, 0);
  return new;
end $$;
create trigger count_bytes before insert or update of size on s3_part for each row execute function count_s3_part();

update s3_object set size = size;
update s3_upload set key = key;
update s3_part set size = size;
update s3_bucket set used_bytes =
  (select coalesce(sum(counted), 0) from s3_object where bucket_id = s3_bucket.id)
  + (select coalesce(sum(counted), 0) from s3_upload where bucket_id = s3_bucket.id)
  + (select coalesce(sum(s3_part.counted), 0) from s3_part join s3_upload on s3_upload.id = upload_id
    where bucket_id = s3_bucket.id);
`;
