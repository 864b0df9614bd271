-- What is meant by a selector of LogQL whose { is at p_at, {app="api"}, and by the function around
-- it; or null.
create function logloom_private.query_meant_selector(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_meant constant text := logloom_private.query_meant_comparison(
    p_texts[p_at + 1] || logloom_private.query_text(p_texts[p_at + 2])
  );
begin
  return v_meant || case
    when p_texts[p_at - 1] is distinct from '(' then ''
    when p_texts[p_at - 2] = 'rate' then ' | rate()'
    when p_texts[p_at - 2] = 'count_over_time' then ' | count()'
    else '' end
    || case when p_texts[p_at - 1] = '(' and p_texts[2:3] = array['by', '(']
      then ' by ' || logloom_private.query_meant_name(p_texts[4]) else '' end;
end;
$$;
