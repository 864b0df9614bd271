-- Whether a scope sees only some records. Then groups are made from these records: the stored
-- counts include all.
create function logloom_private.makes_own_groups(p_scope logloom_private.reading_scope)
returns boolean
language sql
immutable
return p_scope.filter is not null or p_scope.hidden_fields is not null;

-- Builds SQL for the newest p_records errors of a scope in a range. p_service: '' means errors
-- without a service, null all errors. Raises PT403 if the scope hides fields that decide the group.
create function logloom_private.newest_errors_sql(
  p_scope logloom_private.reading_scope,
  p_range tstzrange,
  p_service text,
  p_records integer
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  if exists (
    select
    from unnest(p_scope.hidden_fields) h
    where h in ('level', 'service', 'msg', 'attrs', 'attrs.kind', 'attrs.stack', 'attrs.stacktrace',
        'attrs.stack_trace')
      or split_part(h, '.', 2) in ('error', 'err', 'exception')
  ) then
    perform logloom_private.refuse('error_groups.view_hides_what_groups_need');
  end if;
  v_query := logloom_private.search_query(
    p_scope,
    'level:error' || case
      when p_service is null then ''
      when p_service = '' then ' -service:*'
      else ' service:="' || replace(replace(p_service, '\', '\\'), '"', '\"') || '"'
    end,
    now(), 'filter'
  );
  return 'select l.* ' || logloom_private.source_sql(logloom_private.first_records_sql(
    p_scope.tenant_id,
    logloom_private.bound_query(p_scope.tenant_id, v_query, p_range), p_records, 'desc'
  ));
end;
$$;

-- Makes groups from arrivals that are not stored, for a reader who sees only some records. People,
-- notes and times of changes are the tenant's, so these groups have none. state: open, resolved or
-- ignored.
create function logloom_private.own_error_groups(
  p_tenant_id text,
  p_arrivals logloom_private.error_arrival[],
  p_now timestamptz
)
returns setof public.logloom_error_group
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last constant timestamptz := date_bin('1 hour', p_now, 'epoch');
begin
  return query
  with arrivals as materialized (
    select a.*, coalesce(m.merged_into, a.fingerprint) as target
    from unnest(p_arrivals) a
    left join logloom.error_groups m
      on m.tenant_id = p_tenant_id and m.fingerprint = a.fingerprint
  ), groups as (
    select
      a.target, min(a.service) as service, min(a.error_type) as error_type, min(a.title) as title,
      min(a.first_seen) as first_seen, max(a.last_seen) as last_seen,
      sum(a.records)::bigint as records,
      (array_agg(a.release order by a.first_seen, a.release)
        filter (where a.release is not null))[1] as first_release,
      (array_agg(a.release order by a.last_seen desc, a.release)
        filter (where a.release is not null))[1] as last_release
    from arrivals a
    group by a.target
  )
  select
    o.target, p_tenant_id, o.service, o.error_type, o.title,
    case logloom_private.error_state(g, p_now)
      when 'resolved' then 'resolved' when 'ignored' then 'ignored' else 'open' end,
    o.first_seen, o.last_seen, o.records,
    (
      select count(distinct u) from arrivals a cross join lateral unnest(a.users) u
      where a.target = o.target
    ),
    o.first_release, o.last_release, null::text, null::text, null::timestamptz, null::timestamptz,
    null::text,
    array(
      select coalesce((
        select sum(a.records)::bigint from arrivals a where a.target = o.target and a.hour = h.at
      ), 0)
      from generate_series(v_last - interval '23 hours', v_last, interval '1 hour') h (at)
      order by h.at
    )
  from groups o
  left join logloom.error_groups g
    on g.tenant_id = p_tenant_id and g.fingerprint = o.target;
end;
$$;
