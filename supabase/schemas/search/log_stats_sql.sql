-- Builds SQL that selects rows of public.logloom_log_stat without warnings. p_range: the range of
-- the request. Without buckets, rate() divides by the minutes of p_range.
create function logloom_private.log_stats_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_aggregates constant jsonb := logloom_private.stats_aggregates(p_query);
  v_bucket constant bigint := p_query.plan -> 'bucket';
  v_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_only_counts constant boolean := not jsonb_path_exists(
    v_aggregates, '$[*] ? (@.kind != "count" && @.kind != "rate")'
  );
  v_keys text[];
  v_names text[] := p_query.by_fields;
  v_source logloom_private.counted_source;
  v_values text[];
  v_texts text[];
  v_sorted jsonb;
  v_grouped text;
  -- A query without aggregates has one result, count().
  v_results constant text[] := case when p_query.plan ? 'aggregates'
    then logloom_private.query_result_names(p_query.plan) else '{count}' end;
  v_value constant text := 'g.v' || logloom_private.value_number(p_query.plan);
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_only_counts, v_bucket
  );
  v_keys := coalesce(v_source.keys_sql, p_query.by_sql);
  if v_bucket is not null then
    v_keys := logloom_private.bucket_sql(v_bucket) || v_keys;
    v_names := 'ts'::text || v_names;
  end if;
  v_values := logloom_private.stats_values_sql(
    v_aggregates, v_source,
    coalesce(v_bucket, extract(epoch from upper(p_range) - lower(p_range))) / 60
  );

  -- The columns k1, k2 … are the groups; v1, v2 … are the results.
  v_grouped := 'select ' || concat_ws(
    ', ', logloom_private.numbered_sql(v_keys, 'k'), logloom_private.numbered_sql(v_values, 'v')
  ) || ' ' || logloom_private.source_sql(v_source.rows_sql);
  if cardinality(v_keys) > 0 then
    v_grouped := v_grouped || ' group by '
      || (select string_agg(n::text, ', ') from generate_series(1, cardinality(v_keys)) n)
      || case when v_source.count_sql like '%events%' then ' having sum(l.events) <> 0' else '' end;
  end if;
  v_grouped := logloom_private.math_sql(v_grouped, p_query.plan);
  -- Text columns need no cast.
  v_texts := array(
    select case
      when v_bucket is not null and k.n = 1
        then 'to_char(g.k1 at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS"Z"'')'
      when k.name in ('ts', 'received_at', 'id') then format('(to_jsonb(g.k%s) #>> ''{}'')', k.n)
      else 'g.k' || k.n
    end
    from unnest(v_names) with ordinality k (name, n)
    order by k.n
  );
  v_sorted := (
    select jsonb_object_agg(c.name, c.sql)
    from (
      select
        k.name,
        case
          when v_bucket is not null and k.n = 1 then '["g.k1"]'
          -- Sorts numbers in any notation before other texts.
          when k.name ~ '^(?:@|attrs\.)' then jsonb_build_array(
            'logloom_private.text_number(' || v_texts[k.n] || ')', v_texts[k.n] || ' collate "C"'
          )
          else jsonb_build_array(v_texts[k.n] || ' collate "C"')
        end as sql
      from unnest(v_names) with ordinality k (name, n)
      union all
      select r.name, jsonb_build_array('g.v' || r.n)
      from unnest(v_results) with ordinality r (name, n)
    ) c
  );
  v_grouped := 'select g.*, count(*) over () as total '
    || logloom_private.source_sql(logloom_private.chosen_rows_sql(
      format(
        '(select g.* from (select g.*, count(*) over () as groups from (%1$s) g) g '
          || 'where g.groups <= %2$s '
          || 'or logloom_private.refuse_stage_bound(''by'', %2$s, ''groups'')) g',
        v_grouped, v_groups
      ),
      p_query.plan, v_sorted,
      concat_ws(
        ', ',
        case when v_bucket is not null then 'g.k1' end,
        v_value || ' desc nulls last',
        (
          select string_agg(v_texts[n] || ' collate "C"', ', ')
          from generate_series(
            case when v_bucket is null then 1 else 2 end, cardinality(v_texts)
          ) n
        )
      ),
      p_limit
    ));

  -- Uses arrays, because a function takes at most 100 arguments and a query may name more fields.
  return 'select jsonb_object(array['
    || array_to_string(array(select quote_literal(n) from unnest(v_names) n), ', ')
    || ']::text[], array[' || array_to_string(v_texts, ', ')
    || ']::text[]), ' || v_value || ', jsonb_build_object('
    || (
      select string_agg(quote_literal(r.name) || ', g.v' || r.n, ', ')
      from unnest(v_results) with ordinality r (name, n)
    )
    || '), g.total from (' || v_grouped || ') g';
end;
$$;
