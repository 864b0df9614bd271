-- Returns a key as a segment of an attribute's path, quoted if necessary.
create function logloom_private.query_segment(p_key text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_key collate "und-x-icu" ~ '^[[:alpha:][:digit:]_-]+$' then
    return p_key;
  end if;
  return '"' || regexp_replace(p_key, '(["\\])', '\\\1', 'g') || '"';
end;
$$;

-- Builds SQL that selects public.logloom_log_field for the fields of a sample. $1: a text in the
-- fields' names, in any case (null: all fields). Limits for hostile attrs: five levels, 200 keys in
-- an object, 200 characters in a value. With $1, only keys that match or have objects count.
create function logloom_private.log_fields_sql(
  p_sample logloom_private.sql_source,
  p_is_whole boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted constant text := '($1 is null or strpos(lower(%s), lower($1)) > 0)';
  -- The values of arrays are dropped: an array may be as large as its record.
  v_attributes constant text :=
    '(select j.key, jsonb_typeof(j.value) as type, '
    || 'case jsonb_typeof(j.value) when ''object'' then j.value end as object, '
    || 'case when jsonb_typeof(j.value) in (''string'', ''number'', ''boolean'') '
    || 'then left(j.value #>> ''{}'', 201) end as value from jsonb_each(%1$s) j '
    || 'where jsonb_typeof(j.value) = ''object'' or '
    || format(v_wanted, '%2$s || logloom_private.query_segment(j.key)') || ' limit 200)';
  v_max_fields constant integer := 200;
  -- The limit of attributes read, over all records.
  v_max_cells constant integer := 100000;
  v_sampled text;
  v_present text;
begin
  select
    string_agg(format('left(l.%1$s, 201) as %1$s', f.name), ', '),
    string_agg(format('(%1$L, ''string'', s.%1$s)', f.name), ', ')
  into v_sampled, v_present
  from unnest(logloom_private.record_fields()) f
  where f.place is not null;
  return format(
    $query$
      with recursive sample as materialized (
        -- Takes one character more than a listed value may have.
        select %5$s, l.msg is not null as has_msg, l.attrs
        %1$s
      ), attributes as (
        select
          logloom_private.query_segment(a.key) as path, 1 as depth, a.type, a.object, a.value
        from sample s, lateral %7$s a
        where length(a.key) <= 200
        union all
        select
          p.path || '.' || logloom_private.query_segment(a.key), p.depth + 1,
          a.type, a.object, a.value
        from attributes p, lateral %8$s a
        where p.depth < 5 and length(p.path) + length(a.key) <= 200
      ), present as (
        select f.field, f.type, f.value
        from sample s,
          lateral (
            values
              ('ts', 'timestamp', null),
              ('received_at', 'timestamp', null),
              ('id', 'uuid', null),
              %6$s
          ) f (field, type, value)
        where f.value is not null or f.type <> 'string'
        union all
        select 'msg', 'string', null from sample s where s.has_msg
        union all
        select 'attrs.' || a.path, a.type, a.value
        -- This limit ends the recursion.
        from (select t.* from attributes t limit %4$s) a
        where a.type not in ('null', 'object')
      ), fields as (
        select
          p.field,
          -- count(distinct) would sort all cells.
          case when min(p.type) = max(p.type) then min(p.type) else 'mixed' end as type,
          count(*) as count
        from present p
        where %10$s
        group by p.field
        -- level and service are never cut off: most searches begin with them.
        order by p.field in ('level', 'service') desc, count(*) desc, p.field collate "C"
        limit %2$s
      ), facets as (
        select
          p.field, p.value, count(*) as count,
          row_number() over (
            partition by p.field order by count(*) desc, p.value collate "C"
          ) as place
        from fields f
        join present p using (field)
        where length(p.value) <= 200
        group by p.field, p.value
      ), listed as (
        select
          v.field,
          array_agg(
            row(v.value, v.count)::public.logloom_log_field_value order by v.place
          ) as values
        from facets v
        where v.place <= %3$s
        group by v.field
      )
      select
        f.field, f.type, f.count, coalesce(v.values, '{}'),
        %9$L::boolean as exact,
        (select count(*) from sample) as records
      from fields f
      left join listed v using (field)
      order by f.count desc, f.field collate "C"
    $query$,
    logloom_private.source_sql(p_sample),
    v_max_fields, logloom_private.listed_values(), v_max_cells, v_sampled, v_present,
    format(v_attributes, 's.attrs', '''attrs.'''),
    format(v_attributes, 'p.object', '''attrs.'' || p.path || ''.'''),
    p_is_whole, format(v_wanted, 'p.field')
  );
end;
$$;

create function logloom_private.read_log_fields(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_name text
)
returns setof public.logloom_log_field
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
set work_mem = '4MB'
as $$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_log_fields');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_edges timestamptz[];
  v_counts bigint[];
  v_is_whole boolean;
  v_fields public.logloom_log_field[];
begin
  perform logloom_private.take_search_slot(v_scope);
  v_query := logloom_private.bound_query(
    v_tenant_id, logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter'), v_range
  );
  v_edges := logloom_private.slice_edges(v_tenant_id, v_query);
  v_counts := logloom_private.slice_counts(v_tenant_id, v_query, v_edges);
  v_is_whole := coalesce(
    (select sum(c.count) from unnest(v_counts) c (count)) <= logloom_private.sample_records(), true
  ) and logloom_private.sample_is_whole(v_tenant_id, v_query);
  execute 'select array(select row(f.*)::public.logloom_log_field from ('
    || logloom_private.log_fields_sql(
    case when v_is_whole then logloom_private.newest_sample_sql(v_tenant_id, v_query)
    else logloom_private.spread_sample_sql(v_tenant_id, v_query, v_edges, v_counts) end,
    v_is_whole
  ) || ') f)'
  into v_fields
  using p_name;
  if not v_is_whole then
    v_fields := logloom_private.with_exact_fields(v_tenant_id, v_query, v_fields);
  end if;
  return query
  select f.*
  from unnest(v_fields) f
  order by f.count / f.records::numeric desc, f.field collate "C";
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

create function public.list_log_fields(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_name text default null
)
returns setof public.logloom_log_field
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return query
  select f.*
  from logloom_private.read_log_fields(null, p_query_dsl, p_ts_from, p_ts_to, p_name) f;
end;
$$;

comment on function public.list_log_fields(text, text, text, text) is
  'Returns the fields of the records of the range that match p_query_dsl (blank: all records), '
  'most frequent first. Looks at all these records, or at a sample spread over the range. p_name: '
  'a text in the fields'' names, in any case. Errors: PT400, PT401, PT408.';
