-- Adds what arrived to the groups that are cheap, those with the same filter together. True where
-- the deadline came before the end.
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
