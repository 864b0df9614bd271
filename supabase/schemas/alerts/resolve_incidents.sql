-- Ends the incidents of a rule whose condition held no longer in a window, but in those of its
-- groups that p_held names.
create function logloom_private.resolve_incidents(
  p_rule_id uuid,
  p_window_end timestamptz,
  p_held jsonb[],
  p_now timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.alert_incidents i
  set resolved_at = p_now, resolution = 'recovered', quiet_from = p_window_end
  where i.rule_id = p_rule_id
    and i.resolved_at is null
    and i.held_until < p_window_end
    and coalesce(i."group", 'null') <> all (p_held);
end;
$$;
