-- How many bytes records have in an answer.
create function logloom_private.answered_bytes(p_logs public.logloom_log_record[])
returns bigint
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (
      select sum(octet_length(to_json(l)::text))
      from (select unnest(p_logs) as l) l
    ),
    0
  );
end;
$$;
