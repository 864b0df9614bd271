-- Groups that are not complete for the round, or whose rules read windows that they did not read
-- yet, and that do not rest. cost: milliseconds of a record, and those that it took already.
create function logloom_private.pending_alert_groups(p_round logloom_private.alert_rounds)
returns table (
  tenant_id text, group_id bigint, has_partials boolean, needed_from timestamptz,
  cost double precision
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select g.tenant_id, g.group_id, g.filter is not null, n.needed_from,
    coalesce(g.ms_per_record, 0) + g.spent_ms
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
