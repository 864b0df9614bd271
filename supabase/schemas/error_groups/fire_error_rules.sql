-- Returns the group of an alert: fingerprint, error and service. For a rule in a view, error is
-- only the type. If the view hides fields, returns only the fingerprint.
create function logloom_private.error_alert_group(
  p_rule logloom.alert_rules,
  p_group logloom.error_groups
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('fingerprint', p_group.fingerprint) || case
    when p_rule.view_id is null
      then jsonb_build_object('error', p_group.title, 'service', p_group.service)
    -- The scope also has the hidden fields of the parent of a customer's view.
    when (logloom_private.scope_of_view(p_rule.tenant_id, p_rule.view_id)).hidden_fields <> '{}'
      then '{}'
    else jsonb_build_object('error', p_group.error_type, 'service', p_group.service)
  end;
end;
$$;

-- Fires the rules of the kind new_error for new and regressed groups, if the rule's query and view
-- find one of the records. In one step, a rule fires for at most settings.alert_groups groups.
create function logloom_private.fire_error_rules(
  p_events logloom_private.error_event[],
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_max constant integer := (select s.alert_groups from logloom_private.settings s);
  v_minute constant timestamptz := date_trunc('minute', p_now);
  v_rule logloom.alert_rules;
  v_found integer[];
  v_silences uuid[];
  v_n integer;
  v_fired integer := 0;
begin
  for v_rule in
    select r.*
    from logloom.alert_rules r
    where r.kind = 'new_error' and r.enabled
      and r.tenant_id in (select e.tenant_id from unnest(p_events) e)
    order by r.rule_id
    for no key update
  loop
    begin
      execute format(
        $query$
          select coalesce(array_agg(e.n order by e.records desc, e.n), '{}')
          from unnest($1) with ordinality e (tenant_id, fingerprint, records, ids, times, n)
          where e.tenant_id = $2 and exists (
            select
            from logloom.logs l
            where l.tenant_id = $2 and l.level = 'error'
              and l.ts >= $3 and l.ts <= $4
              and (l.ts, l.id) in (select k.ts, k.id from unnest(e.times, e.ids) k (ts, id))
              and (%s)
          )
        $query$,
        logloom_private.query_sql(
          (logloom_private.compile_rule(
            v_rule.tenant_id, v_rule.query_dsl, v_rule.view_id, p_now
          )).tree,
          'l'
        )
      )
      into v_found
      using p_events, v_rule.tenant_id,
        (select min(t) from unnest(p_events) e, unnest(e.times) t),
        (select max(t) from unnest(p_events) e, unnest(e.times) t);
      v_silences := logloom_private.silences_at(v_rule.tenant_id, p_now);
      foreach v_n in array v_found[:v_max] loop
        v_fired := v_fired + logloom_private.fire_alert(
          v_rule,
          (
            select row(
              v_rule.rule_id, v_minute, v_minute + interval '1 minute', p_events[v_n].records,
              null, logloom_private.error_alert_group(v_rule, g), null
            )::logloom_private.alert_window
            from logloom.error_groups g
            where g.tenant_id = v_rule.tenant_id and g.fingerprint = p_events[v_n].fingerprint
          ),
          p_now, v_silences
        )::integer;
      end loop;
      update logloom.alert_rules r
      set
        last_evaluated_at = v_minute,
        last_value = cardinality(v_found),
        last_error = case when cardinality(v_found) > v_max then format(
          '%s more groups were new: list_error_groups shows them', cardinality(v_found) - v_max
        ) end
      where r.rule_id = v_rule.rule_id and v_found <> '{}';
    exception
      when lock_not_available or disk_full then
        raise;
      when others then
        update logloom.alert_rules r set last_error = sqlerrm where r.rule_id = v_rule.rule_id;
    end;
  end loop;
  return v_fired;
end;
$$;

-- Ends the incidents of groups that were resolved or ignored. A rule with notify_on_recovery sends
-- a message.
create function logloom_private.end_error_incidents(
  p_tenant_id text,
  p_fingerprints text[],
  p_now timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.alert_incidents i
  set resolved_at = p_now, resolution = 'recovered', quiet_from = p_now
  from logloom.alert_rules r
  where r.rule_id = i.rule_id and r.kind = 'new_error'
    and i.tenant_id = p_tenant_id and i.resolved_at is null
    and i."group" ->> 'fingerprint' = any (p_fingerprints);
end;
$$;
