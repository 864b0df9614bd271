-- Fills new groups whose windows hold few records, p_limit at most, all at once. Which ones.
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
      and g.filter is not null
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
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, 0, p_round
    );
  end loop;
  return v_group_ids;
end;
$$;
