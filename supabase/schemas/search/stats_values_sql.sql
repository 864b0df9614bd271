-- An aggregate over a source that has numbers, as query_aggregate_sql has it over records; p_n: its
-- place among those of the query, which its percentile is called by.
create function logloom_private.numbers_aggregate_sql(p_aggregate jsonb, p_n bigint)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'logloom_private.finite_double(' || case p_aggregate ->> 'kind'
    when 'sum' then 'coalesce(sum(l.total), 0)'
    when 'avg' then 'sum(l.total) / nullif(sum(l.numbers), 0)'
    when 'min' then 'min(l.minimum)'
    when 'max' then 'max(l.maximum)'
    else 'max(l.q' || p_n || ')'
  end || ')';
end;
$$;

-- The expressions of the aggregates over a source; p_minutes: what rate() divides by.
create function logloom_private.stats_values_sql(
  p_aggregates jsonb,
  p_source logloom_private.counted_source,
  p_minutes numeric
)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select case
      when a.item ->> 'kind' = 'count' then p_source.count_sql
      when a.item ->> 'kind' = 'rate'
        then p_source.count_sql || format(' / %L::double precision', p_minutes)
      when p_source.has_numbers then logloom_private.numbers_aggregate_sql(a.item, a.n)
      else logloom_private.query_aggregate_sql(a.item, 'l')
    end
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    order by a.n
  );
end;
$$;
