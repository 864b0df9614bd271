-- How a name of another language is written here: a field's name, or that of an attribute.
create function logloom_private.query_meant_name(p_name text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Ingest makes fields of these.
  v_name constant text := case when p_name in ('@timestamp', '@message', '@level')
    then substr(p_name, 2) else p_name end;
begin
  if left(v_name, 1) = '@' or left(v_name, 6) = 'attrs.'
    or v_name = any(logloom_private.query_field_names())
  then
    return v_name;
  end if;
  return coalesce(logloom_private.query_near_field(v_name), '@' || v_name);
end;
$$;
