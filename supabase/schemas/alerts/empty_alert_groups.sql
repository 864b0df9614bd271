-- Has groups filled anew from the records, those that failed not before p_retry_at.
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
