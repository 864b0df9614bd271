-- Where records may be that an erasure does not reach, by kind: what readers took out of the
-- service by an export or a page is theirs.
create function logloom_private.erasure_does_not_reach(p_run logloom.retention_runs)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_array(
    jsonb_build_object(
      'kind', 'exports', 'ts_from', p_run.ts_from, 'ts_to', p_run.ts_to
    )
  );
end;
$$;
