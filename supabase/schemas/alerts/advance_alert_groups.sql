-- Empties groups: their partial values are computed again from the records. After an error, the
-- groups wait until p_retry_at.
create function logloom_private.empty_alert_groups(
  p_group_ids bigint[],
  p_error text default null,
  p_retry_at timestamptz default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.alert_groups g
  set write_seq = null, filled_from = null, filled_id = null, records_read = 0, spent_ms = 0,
    last_error = p_error, retry_at = p_retry_at
  where g.group_id = any(p_group_ids);
end;
$$;

-- Returns the groups that this round must still read and that are not paused: incomplete groups,
-- and groups whose rules must read their own windows. place: the order within the tenant. Groups of
-- new rules and groups of evaluated rules take turns, so that a thousand new rules do not delay
-- older rules. Within each kind, the group that has waited longest comes first.
create function logloom_private.pending_alert_groups(p_round logloom_private.alert_rounds)
returns table (
  tenant_id text, group_id bigint, has_partials boolean, needed_from timestamptz,
  place bigint
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select g.tenant_id, g.group_id, g.filter is not null, n.needed_from,
    row_number() over (
      partition by g.tenant_id, n.is_new
      order by greatest(n.due_at, g.turn_at), coalesce(g.ms_per_record, 0) + g.spent_ms, g.group_id
    ) * 2 - (not n.is_new)::integer
  from logloom_private.alert_groups g
  join logloom_private.alert_needs(p_round) n on n.group_id = g.group_id
  where coalesce(g.retry_at <= p_round.window_end, true)
    and case
      when g.filter is null then n.is_due
      else g.write_seq is null
        or g.write_seq < p_round.write_seq_to
        or g.filled_from > n.needed_from
        or (g.filled_from = n.needed_from and g.filled_id is not null)
    end;
end;
$$;

-- Pauses a group that exceeded its budget, longer each time. If the group has reopened windows,
-- gives up these windows instead and empties the group.
create function logloom_private.rest_alert_group(
  p_group logloom_private.alert_groups,
  p_now timestamptz,
  p_records bigint,
  p_milliseconds double precision
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first_rest constant interval := '5 minutes';
  v_longest_rest constant interval := '1 hour';
begin
  update logloom_private.alert_plans p set reopened_from = null
  where p.group_id = p_group.group_id and p.reopened_from is not null;
  if found then
    perform logloom_private.empty_alert_groups(array[p_group.group_id]);
    return;
  end if;
  perform logloom_private.empty_alert_groups(
    array[p_group.group_id],
    format(
      'The rule is too expensive: %s records took %s ms. Narrow its query or shorten its window; '
        'it is paused for a while.',
      p_records, round(p_milliseconds::numeric)
    ),
    p_now + least(v_first_rest * 2 ^ least(p_group.failures, 20), v_longest_rest)
  );
  update logloom_private.alert_groups g
  set failures = g.failures + 1, ms_per_record = p_milliseconds / greatest(p_records, 1)
  where g.group_id = p_group.group_id;
end;
$$;

-- Whether reading p_records records is expected to take at most 20 ms.
create function logloom_private.is_cheap(p_records bigint, p_ms_per_record double precision)
returns boolean
language sql
immutable
return p_records <= 5000 and p_records * coalesce(p_ms_per_record, 0.02) <= 20;

-- Computes the partial values of at most p_limit empty groups with one read of the logs. Takes only
-- groups whose windows hold few records. Returns their ids.
create function logloom_private.fill_small_alert_groups(
  p_round logloom_private.alert_rounds,
  p_limit integer
)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_staged constant text := 'pg_temp.alert_backlog';
  -- Skips groups that need older records, because these records may be sealed.
  v_from constant timestamptz := p_round.window_end - (
    select s.seal_after - logloom_private.alert_round_limit() from logloom_private.settings s
  );
  v_new record;
  v_records bigint;
  v_group_ids bigint[];
  v_froms timestamptz[];
  v_unit record;
begin
  for v_new in
    select n.group_id, n.needed_from, g.tenant_id, g.ms_per_record
    from logloom_private.alert_needs(p_round) n
    join logloom_private.alert_groups g on g.group_id = n.group_id
    where g.write_seq is null
      and g.filter is not null
      and coalesce(g.retry_at <= p_round.window_end, true)
      and n.needed_from >= v_from
    order by n.group_id
  loop
    -- The counts are read by a separate statement, because they may be on another node.
    v_records := coalesce(
      (
        select sum(c.events)
        from logloom_private.log_counts c
        where c.tenant_id = v_new.tenant_id and c.minute >= v_new.needed_from - interval '1 minute'
      ),
      0
    );
    if v_records <= 1000 and logloom_private.is_cheap(v_records, v_new.ms_per_record) then
      v_group_ids := v_group_ids || v_new.group_id;
      v_froms := v_froms || v_new.needed_from;
      exit when cardinality(v_group_ids) = p_limit;
    end if;
  end loop;
  if v_group_ids is null then
    return '{}';
  end if;
  delete from logloom_private.alert_partials p where p.group_id = any(v_group_ids);
  perform logloom_private.empty_staging_table(v_staged);
  execute format(
    'insert into %s select l.* from (select g.tenant_id, min(n.starts) as starts '
      || 'from unnest($1, $2) n (group_id, starts) '
      || 'join logloom_private.alert_groups g on g.group_id = n.group_id group by 1) t '
      || 'join logloom.logs l on l.tenant_id = t.tenant_id and l.ts >= t.starts '
      || 'where l.ts >= %L::timestamptz and l.write_seq <= %s',
    v_staged, (select min(f.starts) from unnest(v_froms) f (starts)), p_round.write_seq_to
  )
  using v_group_ids, v_froms;
  for v_unit in
    select array_agg(g.group_id) as group_ids, array_agg(n.starts) as froms
    from unnest(v_group_ids, v_froms) n (group_id, starts)
    join logloom_private.alert_groups g on g.group_id = n.group_id
    group by g.digest
  loop
    perform logloom_private.add_alert_unit(v_staged, v_unit.group_ids, v_unit.froms, 0, p_round);
  end loop;
  return v_group_ids;
end;
$$;

-- Adds new records to the groups for which this is cheap. Groups with the same digest share a
-- statement. Returns true if the deadline passed before the end.
create function logloom_private.advance_alert_groups(
  p_round logloom_private.alert_rounds,
  p_deadline timestamptz
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_staged constant text := 'pg_temp.alert_writes';
  v_unit record;
begin
  for v_unit in
    select
      array_agg(u.group_id) as group_ids, array_agg(u.filled_from) as froms,
      sum(u.records) as records
    from (
      select
        g.*, a.records,
        sum(a.records) over (partition by g.digest order by g.group_id) / 20000 as part
      from logloom_private.alert_groups g
      join logloom_private.alert_round_writes a on a.tenant_id = g.tenant_id
      where g.write_seq < p_round.write_seq_to
        and logloom_private.is_cheap(a.records, g.ms_per_record)
    ) u
    group by u.digest, u.part
    order by sum(u.records * u.ms_per_record)
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, v_unit.records, p_round
    );
    if clock_timestamp() > p_deadline then
      return true;
    end if;
  end loop;
  return false;
end;
$$;
