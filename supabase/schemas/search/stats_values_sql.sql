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
    select case a.item ->> 'kind'
      when 'count' then p_source.count_sql
      when 'rate' then p_source.count_sql || format(' / %L::double precision', p_minutes)
      else logloom_private.query_aggregate_sql(
        a.item, 'l', p_source.number_sql, p_source.double_sql
      )
    end
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    order by a.n
  );
end;
$$;
