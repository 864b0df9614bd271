-- What the function logloom-archive is told of a file that it reads.
create function logloom_private.archive_part_work(p_part logloom.archive_parts)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'tenant_id', p_part.tenant_id, 'part_id', p_part.part_id, 'key', p_part.object_key,
    'records', p_part.records, 'bytes', p_part.bytes, 'sha256', p_part.sha256,
    'first_day', p_part.first_day, 'last_day', p_part.last_day,
    'generation', p_part.generation + 1
  );
end;
$$;
