-- Groups, of one tenant or of all, that are not complete for the round and do not rest.
create function logloom_private.pending_alert_groups(
  p_round logloom_private.alert_rounds,
  p_tenant_id text default null
)
returns setof logloom_private.pending_alert_group
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select g.tenant_id, g.group_id, n.needed_from,
    g.write_seq < p_round.write_seq_to, coalesce(g.ms_per_record, 0) + g.spent_ms
  from logloom_private.alert_groups g
  join logloom_private.alert_needs(p_round) n on n.group_id = g.group_id
  where (p_tenant_id is null or g.tenant_id = p_tenant_id)
    and coalesce(g.retry_at <= p_round.window_end, true)
    and (
      g.write_seq is null
      or g.write_seq < p_round.write_seq_to
      or g.filled_from > n.needed_from
      or (g.filled_from = n.needed_from and g.filled_id is not null)
    );
end;
$$;
