-- Adds staged records to groups with the same filter and brings them to the round: all in one
-- statement, or where one of them makes it fail, each by itself.
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
