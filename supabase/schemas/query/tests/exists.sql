-- field:*, has a value.
create function logloom_private.exists_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_value
    || case p_leaf ->> 'field' when 'attrs' then ' <> ''null''' else ' is not null' end;
end;
$$;
