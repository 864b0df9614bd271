-- Top-level keys of attrs that SQL reads through the alias l; null where it may read all.
create function logloom_private.keys_read(p_sql text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_sql is null or p_sql ~ '\ml\.attrs(?! -> ''[^''\\]*''(?!''))' then
    return null;
  end if;
  return array(
    select distinct m.match[1]
    from regexp_matches(p_sql, '\ml\.attrs -> ''([^'']*)''', 'g') m (match)
  );
end;
$$;
