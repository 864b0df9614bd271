-- Returns new or regressed (for seven days), open, resolved or ignored.
create function logloom_private.error_state(p_group logloom.error_groups, p_now timestamptz)
returns text
language sql
stable
return case
  when p_group.state = 'resolved' then 'resolved'
  when p_group.state = 'ignored' and (p_group.ignored_until <= p_now) is not true then 'ignored'
  when p_group.state = 'ignored' or p_group.opened_at < p_now - interval '7 days' then 'open'
  when p_group.is_regressed then 'regressed'
  else 'new'
end;

-- Records of a group in each of the last 24 hours.
create function logloom_private.error_hours(
  p_tenant_id text,
  p_fingerprint text,
  p_now timestamptz
)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last constant timestamptz := date_bin('1 hour', p_now, 'epoch');
begin
  return array(
    select coalesce(c.records, 0)
    from generate_series(v_last - interval '23 hours', v_last, interval '1 hour') h (at)
    left join logloom_private.error_counts c
      on c.tenant_id = p_tenant_id and c.fingerprint = p_fingerprint and not c.is_day
      and c.at = h.at
    order by h.at
  );
end;
$$;

-- A group as operations show it. p_addresses has the email addresses of assigned people.
create function logloom_private.error_group_of(
  p_group logloom.error_groups,
  p_hours bigint[],
  p_addresses jsonb,
  p_now timestamptz
)
returns public.logloom_error_group
language sql
stable
return row(
  p_group.fingerprint, p_group.tenant_id, p_group.service, p_group.error_type, p_group.title,
  logloom_private.error_state(p_group, p_now), p_group.first_seen, p_group.last_seen,
  p_group.records, logloom_private.error_users(p_group.users), p_group.first_release,
  p_group.last_release,
  coalesce(p_addresses ->> p_group.assigned_to, p_group.assigned_to), p_group.note,
  p_group.ignored_until, p_group.resolved_at, p_group.resolved_release, p_hours
);

-- Returns the number that sorts groups in a list: the highest comes first.
create function logloom_private.error_place_in_list(
  p_item public.logloom_error_group,
  p_order text
)
returns double precision
language sql
stable
return case p_order
  when 'records' then p_item.records
  when 'first_seen' then extract(epoch from p_item.first_seen)
  when 'last_seen' then extract(epoch from p_item.last_seen)
  -- 1e12 seconds are longer than any time between two records.
  else extract(epoch from p_item.last_seen)
    + case when p_item.state in ('new', 'regressed') then 1e12 else 0 end
end;

create function logloom_private.error_groups_in(
  p_scope logloom_private.reading_scope,
  p_service text,
  p_range tstzrange,
  p_new_since timestamptz,
  p_now timestamptz
)
returns setof public.logloom_error_group
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_to constant timestamptz := coalesce(upper(p_range), p_now);
  v_from constant timestamptz := coalesce(lower(p_range), v_to - interval '24 hours');
begin
  if logloom_private.makes_own_groups(p_scope) then
    if p_new_since is not null then
      -- The records of a view do not tell when a group was new.
      perform logloom_private.refuse('error_groups.view_cannot_tell_new');
    elsif v_from >= v_to then
      perform logloom_private.refuse('search.range_is_empty');
    end if;
    perform logloom_private.take_search_slot(p_scope);
    return query
    select o.*
    from logloom_private.own_error_groups(
      p_scope.tenant_id,
      logloom_private.grouped_errors(logloom_private.newest_errors_sql(
        p_scope, tstzrange(v_from, v_to), p_service, 10000
      )),
      p_now
    ) o;
    return;
  end if;
  return query
  select e.*
  from logloom.error_groups g
  -- The hours and addresses are added for the groups of a page only. This is quicker.
  cross join lateral logloom_private.error_group_of(g, null, null, p_now) e
  where g.tenant_id = p_scope.tenant_id and g.merged_into is null
    and (p_service is null or coalesce(g.service, '') = p_service)
    and (lower(p_range) is null or g.last_seen >= lower(p_range))
    and (upper(p_range) is null or g.first_seen < upper(p_range))
    and (p_new_since is null or g.opened_at >= p_new_since);
end;
$$;

create function logloom_private.read_error_groups(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_state text[],
  p_service text,
  p_first_release text,
  p_assigned_to text,
  p_new_since text,
  p_ts_from text,
  p_ts_to text,
  p_order text,
  p_limit integer,
  p_after text
)
returns setof public.logloom_error_group
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because keys and OAuth clients cannot read tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_error_groups', p_tenant_id);
  v_is_own constant boolean := logloom_private.makes_own_groups(v_scope);
  v_sees_people constant boolean := logloom_private.sees_addresses(v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_now constant timestamptz := now();
  v_new_since constant timestamptz :=
    logloom_private.time_parameter('p_new_since', p_new_since);
  v_place double precision;
  v_addresses jsonb;
begin
  if p_state = '{}' or not p_state <@ '{new,regressed,open,resolved,ignored}' then
    perform logloom_private.refuse('error_groups.state_is_unknown');
  elsif p_order not in ('priority', 'last_seen', 'first_seen', 'records') then
    perform logloom_private.refuse('error_groups.order_is_unknown');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  if p_after is not null then
    -- Also finds a group that the filters no longer choose.
    select logloom_private.error_place_in_list(e, p_order) into v_place
    from logloom_private.error_groups_in(v_scope, null, tstzrange(null, null), null, v_now) e
    where e.fingerprint = p_after;
    if not found then
      perform logloom_private.refuse('parameters.no_such_place', 'error group', 'fingerprint');
    end if;
  end if;
  if v_sees_people and not v_is_own then
    v_addresses := logloom_private.addresses_of_users(
      v_scope.tenant_id,
      array(
        select distinct g.assigned_to from logloom.error_groups g
        where g.tenant_id = v_scope.tenant_id and g.assigned_to is not null
      )
    );
  end if;
  return query
  with chosen as materialized (
    select e as item, logloom_private.error_place_in_list(e, p_order) as place
    from logloom_private.error_groups_in(
      v_scope, p_service, tstzrange(v_from, v_to), v_new_since, v_now
    ) e
    where e.state = any (coalesce(p_state, '{new,regressed,open}'))
      and (p_first_release is null or e.first_release = p_first_release)
      and (
        p_assigned_to is null
        or coalesce(e.assigned_to, '') in (p_assigned_to, (
          select a.key from jsonb_each_text(v_addresses) a
          where lower(a.value) = lower(p_assigned_to)
        ))
      )
  ), page as (
    select c.*
    from chosen c
    where p_after is null or (c.place, (c.item).fingerprint) < (v_place, p_after)
    order by c.place desc, (c.item).fingerprint desc
    limit v_limit
  )
  select i.*
  from page p
  cross join lateral jsonb_populate_record(p.item, jsonb_build_object(
    'assigned_to', case when v_sees_people
      then coalesce(v_addresses ->> (p.item).assigned_to, (p.item).assigned_to) end,
    'note', case when v_sees_people then (p.item).note end,
    'hours', case when v_is_own then (p.item).hours
      else logloom_private.error_hours(v_scope.tenant_id, (p.item).fingerprint, v_now) end
  )) i
  order by p.place desc, (p.item).fingerprint desc;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

create function public.list_error_groups(
  p_tenant_id text default null,
  p_state text[] default null,
  p_service text default null,
  p_first_release text default null,
  p_assigned_to text default null,
  p_new_since text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_order text default null,
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_error_group
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return query
  select e.*
  from logloom_private.read_error_groups(
    null, p_tenant_id, p_state, p_service, p_first_release, p_assigned_to, p_new_since, p_ts_from,
    p_ts_to, p_order, p_limit, p_after
  ) e;
end;
$$;

comment on function public.list_error_groups(
  text, text[], text, text, text, text, text, text, text, integer, text
) is
  'Error groups of the tenant. p_state: any of new, regressed, open, resolved, ignored (default: '
  'the first three). p_service: empty for groups without a service. p_first_release: first seen in '
  'this release. p_assigned_to: user_id or email address, empty for nobody. p_new_since: became '
  'new or regressed since. p_ts_from, p_ts_to: seen in this range. p_order: priority (new and '
  'regressed first, the default), last_seen, first_seen or records, the highest first. p_limit: 1 '
  'to 1000 (default 100). p_after: fingerprint of the last item of the page before. In a view, '
  'groups are made from the newest 10,000 errors of the range (default: 24 hours). Errors: PT400, '
  'PT401, PT403, PT408, PT429.';
