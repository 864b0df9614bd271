-- Builds the SQL expression of an aggregate, of type double precision. Times are seconds since
-- 1970. rate gives the count: the caller divides it by the range. p_filter: the aggregate's own
-- condition as a filter clause, or the empty text.
create function logloom_private.query_aggregate_sql(p_aggregate jsonb, p_filter text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind constant text := p_aggregate ->> 'kind';
  v_number text;
  v_text text;
begin
  if v_kind in ('count', 'rate') then
    return 'count(*)' || p_filter || '::double precision';
  elsif v_kind = 'count_distinct' then
    v_text := logloom_private.query_group_sql(p_aggregate -> 'field', 'l');
    if p_aggregate -> 'field' ->> 'field' not in ('ts', 'received_at', 'id') then
      -- PostgreSQL sorts the values. Sorting hashes takes less time than sorting texts, and little
      -- memory if texts are long. At a million values, the chance that two hashes are equal is one
      -- in thirty million.
      v_text := 'hashtextextended(' || v_text || ', 0)';
    end if;
    return 'count(distinct ' || v_text || ')' || p_filter || '::double precision';
  elsif p_aggregate -> 'field' ->> 'field' in ('ts', 'received_at') then
    return format(
      'extract(epoch from %s(%s)%s)::double precision',
      v_kind, logloom_private.query_value_sql(p_aggregate -> 'field', 'l'), p_filter
    );
  end if;
  v_number := 'logloom_private.json_number('
    || logloom_private.query_value_sql(p_aggregate -> 'field', 'l') || ')';
  return case
    when v_kind = 'sum'
      then 'logloom_private.finite_double(coalesce(sum(' || v_number || ')' || p_filter || ', 0))'
    when v_kind in ('avg', 'min', 'max')
      then 'logloom_private.finite_double(' || v_kind || '(' || v_number || ')' || p_filter || ')'
    else 'logloom_private.finite_double(percentile_cont(' || (p_aggregate ->> 'fraction')
      || ') within group (order by logloom_private.finite_double(' || v_number || '))' || p_filter
      || ')'
  end;
end;
$$;

-- Builds the filter clause of an aggregate's condition; the empty text without a condition.
create function logloom_private.query_condition_sql(p_aggregate jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_aggregate ? 'condition' then
    return '';
  end if;
  return format(' filter (where %s)', logloom_private.query_sql(p_aggregate -> 'condition', 'l'));
end;
$$;
