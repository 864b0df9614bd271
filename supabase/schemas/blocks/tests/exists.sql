create function logloom_private.exists_template()
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return '{"by": "exists", "decides": true}';
end;
$$;
