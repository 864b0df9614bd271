-- What arrived for a round

-- Groups that are expected to take no more than a moment, those with the same filter together.
-- Adds what arrived to the groups that are cheap. True where the deadline came before the end.
create function logloom_private.advance_alert_groups(
  p_round logloom_private.alert_rounds,
  p_deadline timestamptz
)
returns boolean
language plpgsql
volatile
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
      u.filter, u.number_sql, array_agg(u.group_id) as group_ids,
      array_agg(u.filled_from) as froms, sum(u.records) as records
    from (
      select
        g.*, a.records,
        sum(a.records) over (partition by g.digest order by g.group_id) / 20000 as part
      from logloom_private.alert_groups g
      join logloom_private.alert_round_writes a on a.tenant_id = g.tenant_id
      where g.write_seq < p_round.write_seq_to
        and logloom_private.is_cheap(a.records, g.ms_per_record)
    ) u
    group by u.digest, u.part, u.filter, u.number_sql
    order by sum(u.records * u.ms_per_record)
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, v_unit.filter, v_unit.number_sql, v_unit.records,
      p_round
    );
    if clock_timestamp() > p_deadline then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

-- Whether so many records are expected to take 20 ms at most.
create function logloom_private.is_cheap(p_records bigint, p_ms_per_record double precision)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_records <= 5000 and p_records * coalesce(p_ms_per_record, 0.02) <= 20;
end;
$$;

-- One statement for all groups of a unit; where one of them makes it fail, each by itself.
-- Adds staged records to groups with the same filter and brings them to the round.
create function logloom_private.add_alert_unit(
  p_table text,
  p_group_ids bigint[],
  p_froms timestamptz[],
  p_filter text,
  p_number_sql text,
  p_records numeric,
  p_round logloom_private.alert_rounds
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_error text;
begin
  begin
    perform logloom_private.add_staged_records(
      p_table, p_group_ids, p_froms, p_filter, p_number_sql
    );
    update logloom_private.alert_groups g
    set
      write_seq = p_round.write_seq_to,
      filled_from = i.starts,
      -- Of a few records a statement's own cost would be most of it.
      ms_per_record = case
        when p_records >= 100 then logloom_private.milliseconds_since(v_began) / p_records
        else g.ms_per_record
      end,
      retry_at = null,
      last_error = null,
      failures = 0
    from unnest(p_group_ids, p_froms) i (group_id, starts)
    where g.group_id = i.group_id;
    return;
  exception when others then
    v_error := sqlerrm;
  end;
  if cardinality(p_group_ids) = 1 then
    perform logloom_private.fail_alert_group(p_group_ids[1], p_round, v_error);
    return;
  end if;
  for v_at in 1..cardinality(p_group_ids) loop
    perform logloom_private.add_alert_unit(
      p_table, p_group_ids[v_at:v_at], p_froms[v_at:v_at], p_filter, p_number_sql, 0, p_round
    );
  end loop;
end;
$$;

-- New groups of tenants that have little in their windows: staged for all at once.
-- Fills new groups whose windows hold few records, p_limit at most. Which ones.
create function logloom_private.fill_small_alert_groups(
  p_round logloom_private.alert_rounds,
  p_limit integer
)
returns bigint[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_staged constant text := 'pg_temp.alert_backlog';
  -- What is older may be sealed, and is read tenant by tenant.
  v_from constant timestamptz := p_round.window_end - (
    select s.seal_after - s.alert_round_limit from logloom_private.settings s
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
      and coalesce(g.retry_at <= p_round.window_end, true)
      and n.needed_from >= v_from
    order by n.group_id
  loop
    -- By itself, because the counts may be on another node.
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
  if to_regclass(v_staged) is null then
    execute 'create temp table ' || v_staged || ' (like logloom.logs)';
    execute 'create index on ' || v_staged || ' (tenant_id, ts, id)';
  else
    execute 'truncate ' || v_staged;
  end if;
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
    select
      g.filter, g.number_sql, array_agg(g.group_id) as group_ids, array_agg(n.starts) as froms
    from unnest(v_group_ids, v_froms) n (group_id, starts)
    join logloom_private.alert_groups g on g.group_id = n.group_id
    group by g.digest, g.filter, g.number_sql
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, v_unit.filter, v_unit.number_sql, 0, p_round
    );
  end loop;
  return v_group_ids;
end;
$$;
