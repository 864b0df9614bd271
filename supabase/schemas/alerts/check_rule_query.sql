-- Raises PT400 and PT429 like check_query. Also PT400 if the query has any stage besides aggregates
-- and math, or if it would get a warning. The query of a new_error rule has no stages at all.
create function logloom_private.check_rule_query(p_query_dsl text, p_kind text default 'query')
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
declare
  v_query constant logloom_private.compiled_query := logloom_private.checked_query(p_query_dsl);
begin
  if v_query.plan ? 'first' and (
    p_kind = 'new_error' or not v_query.plan ? 'aggregates' or v_query.plan ? 'bucket'
    or (v_query.plan -> 'count')::integer
      > 1 + coalesce(jsonb_array_length(v_query.plan -> 'math'), 0)
  ) then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'alerts.query_gives_no_number'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
end;
$$;
