-- Ends the incidents of a rule whose condition held no longer in a window, but in those of its
-- groups that p_held names. One of a group that is missed, and is not among p_seen, ends because
-- nobody waits for it any more: it did not recover.
create function logloom_private.resolve_incidents(
  p_rule logloom.alert_rules,
  p_window_end timestamptz,
  p_seen jsonb[],
  p_held jsonb[],
  p_now timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.alert_incidents i
  set resolved_at = p_now, quiet_from = p_window_end,
    resolution = case
      when p_rule.on_absent = 'fire' and i."group" <> all (p_seen) then 'still_absent'
      else 'recovered'
    end
  where i.rule_id = p_rule.rule_id
    and i.resolved_at is null
    and i.held_until < p_window_end
    and coalesce(i."group", 'null') <> all (p_held);
end;
$$;
