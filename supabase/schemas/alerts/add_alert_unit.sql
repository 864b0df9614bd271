create function logloom_private.milliseconds_since(p_at timestamptz)
returns double precision
language sql
return extract(epoch from clock_timestamp() - p_at) * 1000;

-- Adds staged records to the partial values of groups with the same digest. Afterwards the groups
-- have the round's write_seq. A group gets records of its tenant from the group's start on, with a
-- higher write_seq than the group has. All groups share one statement. If it fails, each group gets
-- its own.
create function logloom_private.add_alert_unit(
  p_table text,
  p_group_ids bigint[],
  p_froms timestamptz[],
  p_records numeric,
  p_round logloom_private.alert_rounds
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_group logloom_private.alert_groups;
begin
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_ids[1];
  execute logloom_private.add_alert_partials_sql(
    'select i.group_id, l.* from (select n.group_id, n.starts, g.tenant_id, g.filled_id, '
      || 'coalesce(g.write_seq, -1) as write_seq from unnest($1, $2) n (group_id, starts) '
      || 'join logloom_private.alert_groups g on g.group_id = n.group_id offset 0) i join '
      || p_table || ' l on l.tenant_id = i.tenant_id and l.ts >= i.starts '
      || 'where l.write_seq > i.write_seq '
      || 'and (l.ts > i.starts or i.filled_id is null or l.id >= i.filled_id)',
    v_group
  )
  using p_group_ids, p_froms;
  update logloom_private.alert_groups g
  set
    write_seq = p_round.write_seq_to,
    filled_from = i.starts,
    -- If there are few records, the cost of the statement itself would dominate.
    ms_per_record = case
      when p_records >= 100 then logloom_private.milliseconds_since(v_began) / p_records
      else g.ms_per_record
    end,
    retry_at = null,
    last_error = null,
    failures = 0
  from unnest(p_group_ids, p_froms) i (group_id, starts)
  where g.group_id = i.group_id;
exception when others then
  if cardinality(p_group_ids) = 1 then
    perform logloom_private.empty_alert_groups(
      p_group_ids, sqlerrm, p_round.window_end + interval '1 minute'
    );
    return;
  end if;
  for v_at in 1..cardinality(p_group_ids) loop
    perform logloom_private.add_alert_unit(
      p_table, p_group_ids[v_at:v_at], p_froms[v_at:v_at], 0, p_round
    );
  end loop;
end;
$$;
