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

-- Where a group is in a list: the highest comes first.
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
  -- Further than any two times are apart.
  else extract(epoch from p_item.last_seen)
    + case when p_item.state in ('new', 'regressed') then 1e12 else 0 end
end;
