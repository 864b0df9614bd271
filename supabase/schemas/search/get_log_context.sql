-- Returns records of the scope before (p_order desc) or after (asc) p_log, of the same host and
-- service. Compares the first 50,000 characters of a value: a query is copied many times.
create function logloom_private.log_neighbours(
  p_scope logloom_private.reading_scope,
  p_log public.logloom_log_record,
  p_count integer,
  p_order text,
  p_bytes bigint
)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  if p_count = 0 then
    return '{}';
  end if;
  select case when count(*) = 0 then '{"type": "all"}' else jsonb_build_object(
    'type', 'and', 'items', jsonb_agg(case
      when v.value is not null then logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1),
        case
          when length(v.value) <= 50000
            then jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v.value))
          else jsonb_build_object(
            'test', 'like', 'values',
            jsonb_build_array(logloom_private.query_like_text(left(v.value, 50000)) || '%')
          )
        end
      )
      else jsonb_build_object('type', 'not', 'item', logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1), '{"test": "exists"}'
      ))
    end)
  ) end
  into v_query.tree
  from (values ('host', p_log.host), ('service', p_log.service)) v (field, value)
  where logloom_private.is_hidden(v.field, p_scope.hidden_fields) is not true;
  v_query := logloom_private.scoped_query(p_scope, v_query, '');
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  return (
    logloom_private.found_page(
      p_log.tenant_id, v_query,
      tstzrange(p_log.ts - interval '1 day', p_log.ts + interval '1 day'),
      p_count, p_order, p_log.ts, p_log.id, p_bytes
    )
  ).logs;
end;
$$;

create function logloom_private.read_log_context(
  p_scope logloom_private.reading_scope,
  p_id uuid,
  p_ts timestamptz,
  p_before integer,
  p_after integer
)
returns setof public.logloom_log_record
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log_context');
  v_log public.logloom_log_record;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := logloom_private.list_limit_max() / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_scope, p_id, p_ts);
  -- Each side gets half of the remaining bytes, and at least one record.
  v_bytes := greatest((v_bytes - logloom_private.answered_bytes(array[v_log])) / 2, 1);
  return query
  select n.*
  from unnest(
    logloom_private.log_neighbours(v_scope, v_log, v_before, 'desc', v_bytes) || v_log
      || logloom_private.log_neighbours(v_scope, v_log, v_after, 'asc', v_bytes)
  ) n
  where n.host is not distinct from v_log.host and n.service is not distinct from v_log.service
  order by n.ts, n.id;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

create function public.get_log_context(
  p_id uuid default null,
  p_ts timestamptz default null,
  p_before integer default null,
  p_after integer default null
)
returns setof public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return query
  select r.* from logloom_private.read_log_context(null, p_id, p_ts, p_before, p_after) r;
end;
$$;

comment on function public.get_log_context(uuid, timestamptz, integer, integer) is
  'Returns a record and its neighbours in time order. Neighbours have the record''s host and '
  'service (none if it has none), at most a day away. p_before, p_after: how many to return, each '
  '0 to 499 (default 20) and about 4 MB. With p_ts (the record''s time) the search is faster. '
  'Errors: PT400, PT401, PT404, PT408, PT429.';
