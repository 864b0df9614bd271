-- Columns that SQL reads through the alias l; null where it may read all. More than it reads does
-- no harm, so a quoted text that looks like a column is one.
create function logloom_private.fields_read(p_sql text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_sql is null or p_sql ~ '\ml\.\*|\ml\M(?!\.)' then
    return null;
  end if;
  return array(
    select distinct m.match[1]
    from regexp_matches(p_sql, '\ml\.([a-z_]+)', 'g') m (match)
  );
end;
$$;
