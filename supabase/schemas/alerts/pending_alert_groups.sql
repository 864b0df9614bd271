-- Groups that are not complete for the round, or whose rules read windows that they did not read
-- yet, and that do not rest. place: their turn within the tenant. Rules that were evaluated before
-- and new ones take turns, so that a thousand new rules keep no older one waiting; of each, the one
-- comes next that has waited longest since it was due or had a turn.
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
