-- Returns how unlikely it is that two shares differ only by chance: p_after / p_records_after and
-- p_before / p_records_before. This is G-squared, the log-likelihood ratio of T. Dunning, "Accurate
-- Methods for the Statistics of Surprise and Coincidence", Computational Linguistics 19 (1993). By
-- chance alone it exceeds 10.83 once in a thousand times.
create function logloom_private.surprise(
  p_after bigint,
  p_records_after bigint,
  p_before bigint,
  p_records_before bigint
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all constant double precision := p_records_after + p_records_before;
  v_having constant double precision := p_after + p_before;
begin
  return 2 * (
    select coalesce(sum(c.count * ln(c.count / (c.of_row * c.of_column / v_all))), 0)
    from (
      values
        (p_after::double precision, v_having, p_records_after::double precision),
        (p_before, v_having, p_records_before),
        (p_records_after - p_after, v_all - v_having, p_records_after),
        (p_records_before - p_before, v_all - v_having, p_records_before)
    ) c (count, of_row, of_column)
    where c.count > 0
  );
end;
$$;

-- Counts the records of a query and range by the most frequent values of a field, or by pattern if
-- p_field is null. is_cut: true if there are more values.
create function logloom_private.facet_counts(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_field text
)
returns table (value text, records bigint, is_cut boolean)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stages constant logloom_private.compiled_query := logloom_private.parse_query(
    case when p_field is null then '| patterns' else '| count() by ' || p_field end
  );
  v_max constant integer := logloom_private.list_limit_max();
begin
  p_query.plan := v_stages.plan;
  p_query.aggregate := v_stages.aggregate;
  p_query.by_fields := v_stages.by_fields;
  p_query.by_sql := v_stages.by_sql;
  return query
  select s."group" ->> coalesce(p_field, 'pattern'), s.value::bigint, s.total_groups > v_max
  from logloom_private.log_stats_of(p_tenant_id, p_query, p_range, v_max) s;
end;
$$;

-- Returns the values of a field (or the patterns) whose share changed from p_before to p_range by
-- more than chance. Skips a value that only one side has if the other side's list was cut. Skips a
-- value whose records per second did not change.
create function logloom_private.facet_changes(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_before tstzrange,
  p_field text,
  p_records bigint,
  p_records_before bigint
)
returns setof public.logloom_log_change
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds constant numeric := extract(epoch from upper(p_range) - lower(p_range));
  v_seconds_before constant numeric := extract(epoch from upper(p_before) - lower(p_before))
    - case when p_before @> p_range then v_seconds else 0 end;
begin
  return query
  with after as materialized (
    select f.*
    from logloom_private.facet_counts(p_tenant_id, p_query, p_range, p_field) f
  ), before as materialized (
    select
      f.value,
      -- If p_before contains p_range, only the records outside p_range count.
      f.records - case when p_before @> p_range then coalesce(a.records, 0) else 0 end as records,
      f.is_cut
    from logloom_private.facet_counts(p_tenant_id, p_query, p_before, p_field) f
    left join after a on a.value = f.value
  ), counted as (
    select
      value, coalesce(b.records, 0) as before, coalesce(a.records, 0) as after
    from after a
    full join before b using (value)
    where value is not null
      and (a.value is not null or (select bool_or(c.is_cut) from after c) is not true)
      and (b.value is not null or (select bool_or(c.is_cut) from before c) is not true)
  )
  select
    case when p_field is null then 'pattern' else 'value' end,
    coalesce(p_field, 'msg'), c.value, c.before, c.after,
    case
      when c.before = 0 then 'new'
      when c.after = 0 then 'gone'
      when c.after::double precision / p_records > c.before::double precision / p_records_before
        then 'grown'
      else 'shrunk'
    end,
    round(s.score::numeric, 2)::double precision
  from counted c
  -- Patterns are counted in the newest records only.
  cross join lateral logloom_private.surprise(
    least(c.after, p_records), p_records, least(c.before, p_records_before), p_records_before
  ) s (score)
  -- Tests the records per second, too, as if each microsecond could have one record.
  cross join lateral logloom_private.surprise(
    c.after, (v_seconds * 1000000)::bigint, c.before, (v_seconds_before * 1000000)::bigint
  ) r (score)
  where s.score >= 10.83
    and r.score >= 10.83
    and (c.after::double precision / p_records > c.before::double precision / p_records_before)
      = (c.after * v_seconds_before > c.before * v_seconds);
end;
$$;

create function logloom_private.read_log_changes(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer,
  p_before_from text,
  p_before_to text
)
returns public.logloom_log_changes
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_changes');
  v_tenant_id constant text := v_scope.tenant_id;
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_page_time from logloom_private.settings s
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_before constant tstzrange := case
    when p_before_from is null and p_before_to is null
      then tstzrange(lower(v_range) - (upper(v_range) - lower(v_range)), lower(v_range))
    else logloom_private.search_range(p_before_from, p_before_to)
  end;
  v_query logloom_private.compiled_query;
  v_fields text[];
  v_field text;
  v_answer public.logloom_log_changes;
begin
  perform logloom_private.take_search_slot(v_scope);
  if coalesce(p_limit, 20) not between 1 and 100 then
    perform logloom_private.refuse('search.changes_are_out_of_range');
  elsif v_before && v_range and not v_before @> v_range then
    perform logloom_private.refuse('search.compared_ranges_overlap');
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  v_answer.ts_from := lower(v_range);
  v_answer.ts_to := upper(v_range);
  v_answer.before_from := lower(v_before);
  v_answer.before_to := upper(v_before);
  v_answer.changes := '{}';
  v_answer.warnings := logloom_private.warnings_of(v_query);
  if logloom_private.kept_from(v_tenant_id, lower(v_before)) > lower(v_before) then
    v_answer.warnings := v_answer.warnings || row(
      null, 'some records of the range before are no longer kept: new values may be older',
      'Ask for a shorter or a later range.'
    )::public.logloom_query_warning;
  end if;
  select s.value into v_answer.records
  from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, 1) s;
  select s.value into v_answer.records_before
  from logloom_private.log_stats_of(v_tenant_id, v_query, v_before, 1) s;
  if v_before @> v_range then
    v_answer.records_before := v_answer.records_before - v_answer.records;
  end if;
  if v_answer.records > 0 and v_answer.records_before > 0 then
    execute format(
      'select array(select f.field from (%s) f (field, type, count, items) '
        'where f.field like ''attrs.%%'' and f.type in (''string'', ''number'', ''boolean'') '
        -- Takes a field only if its ten most frequent values cover at least half of its records.
        'and (select sum(i.count) from unnest(f.items) i) * 2 >= f.count '
        -- Versions come first, because a new version explains most changes.
        'order by f.field ~* ''version|release|deploy|commit'' desc, f.count desc, '
        'f.field collate "C" limit 5)',
      logloom_private.log_fields_sql(
        logloom_private.newest_sample_sql(
          v_tenant_id, logloom_private.bound_query(v_tenant_id, v_query, v_range)
        ),
        false
      )
    )
    into v_fields
    using null::text;
    -- null: patterns
    foreach v_field in array
      array['level', 'service', 'env', 'host', 'route', null]::text[] || v_fields
    loop
      continue when logloom_private.is_hidden(coalesce(v_field, 'msg'), v_query.hidden_fields);
      if clock_timestamp() > v_deadline then
        v_answer.warnings := v_answer.warnings || row(
          null, 'not all fields were compared, because that took too long',
          'Narrow the filter or the range of time.'
        )::public.logloom_query_warning;
        exit;
      end if;
      v_answer.changes := v_answer.changes || array(
        select c
        from logloom_private.facet_changes(
          v_tenant_id, v_query, v_range, v_before, v_field, v_answer.records,
          v_answer.records_before
        ) c
      );
    end loop;
  end if;
  v_answer.changes := array(
    select c
    from unnest(v_answer.changes) c
    order by
      c.score desc, array_position(array['new', 'gone', 'grown', 'shrunk'], c.change), c.kind,
      c.field collate "C", c.value collate "C"
    limit coalesce(p_limit, 20)
  );
  return v_answer;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.log_changes(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_before_from text default null,
  p_before_to text default null
)
returns public.logloom_log_changes
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_changes(
    null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_before_from, p_before_to
  );
end;
$$;

comment on function public.log_changes(text, text, text, integer, text, text) is
  'Returns what changed among the records that match p_query_dsl, from [p_before_from, '
  'p_before_to) to [p_ts_from, p_ts_to). These are message patterns and field values that are new, '
  'gone, grown or shrunk, the most significant first. Chance alone would explain a change once in '
  'a thousand times. The default of the range before: as long as the range, and directly before '
  'it. If the range before contains the range, only the part outside the range is compared. '
  'p_limit 1 to 100 (default 20). Errors: PT400, PT401, PT408, PT429.';
