-- Returns the fields that a tree or plan reads; attributes as attrs.KEY.
create function logloom_private.query_reads(p_node jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select distinct (r #>> '{}') collate "C"
    from jsonb_path_query(p_node, 'strict $.**.reads[*]') r
    order by 1
  );
end;
$$;
