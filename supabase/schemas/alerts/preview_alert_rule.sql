-- Returns what an unsaved rule would have found in the last 24 hours. Windows with partial values
-- end at every minute; other windows are adjacent. So each record is read only once.
create function logloom_private.preview_windows(
  p_scope logloom_private.reading_scope,
  p_rule logloom.alert_rules
)
returns public.logloom_alert_preview
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := p_scope.tenant_id;
  v_max_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_query logloom_private.compiled_query;
  v_source text;
  v_values logloom_private.alert_window[];
  v_bands logloom_private.alert_band[];
  v_result public.logloom_alert_preview;
begin
  p_rule.tenant_id := v_tenant_id;
  perform
    logloom_private.take_search_slot(p_scope),
    logloom_private.check_rule_query(p_scope, p_rule.query_dsl);
  v_query := logloom_private.scoped_query(
    p_scope, logloom_private.parse_query(p_rule.query_dsl), p_rule.query_dsl
  );
  v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  v_source := 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format('%s, $2, $3, %L, null) s', logloom_private.scanned_tenant_sql('$1'), v_query.tree);
  v_result.ts_to := date_trunc('minute', least(
    now(), logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
  ));
  v_result.ts_from := v_result.ts_to - interval '24 hours';
  v_result.step_minutes := case when logloom_private.has_partials(v_query)
    then 1 else p_rule.window_minutes end;
  v_values := logloom_private.preview_values(
    v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes,
    v_max_groups
  );
  if p_rule.baseline_days is not null then
    v_bands := logloom_private.preview_bands(
      v_query, v_source, v_result, v_values, p_rule, v_max_groups
    );
  end if;
  return logloom_private.completed_preview(
    v_result, v_values, cardinality(v_query.by_fields) > 0, p_rule, v_bands
  );
end;
$$;

create function logloom_private.read_rule_preview(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_rule_id uuid,
  p_query_dsl text,
  p_threshold double precision,
  p_comparison text,
  p_window_minutes integer,
  p_cooldown_minutes integer,
  p_view_id uuid,
  p_for_minutes integer,
  p_baseline jsonb
)
returns public.logloom_alert_preview
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the compiler's SQL would use no index under row-level security
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'preview_alert_rule', p_tenant_id, 'member');
  v_of_rule logloom_private.reading_scope;
  v_rule logloom.alert_rules;
begin
  perform logloom_private.refuse_for_customer(v_scope, 'p_view_id', p_view_id is not null);
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_scope.tenant_id and r.rule_id = p_rule_id
      and logloom_private.is_managed(v_scope, r.view_id);
    if not found then
      perform logloom_private.refuse('alerts.rule_not_found');
    elsif v_rule.kind = 'new_error' then
      perform logloom_private.refuse('alerts.new_error_has_no_preview');
    end if;
  end if;
  v_rule.view_id := coalesce(p_view_id, v_rule.view_id);
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  v_rule.for_minutes := coalesce(p_for_minutes, v_rule.for_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  v_rule := logloom_private.with_baseline(v_rule, p_baseline, p_threshold);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif v_rule.baseline_days is not null
    and (v_rule.threshold not between 0.01 and 1000 or v_rule.comparison in ('eq', 'neq'))
  then
    perform logloom_private.refuse('alerts.alert_rules_baseline_is_valid');
  elsif v_rule.window_minutes not between 1 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif v_rule.cooldown_minutes not between 0 and 10080 then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  elsif v_rule.for_minutes not between 0 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_for_minutes_are_valid');
  end if;
  v_of_rule := logloom_private.scope_of_view(v_scope.tenant_id, v_rule.view_id);
  if v_scope.kind = 'token' then
    v_scope := v_of_rule;
  elsif v_rule.view_id is distinct from logloom_private.view_of_session(v_scope) then
    -- A session previews a rule of another session within both scopes.
    v_scope.filter := logloom_private.both_filters(v_scope.filter, v_of_rule.filter);
    v_scope.hidden_fields := v_scope.hidden_fields || v_of_rule.hidden_fields;
    v_scope.names_now := v_scope.names_now is true or v_of_rule.names_now is true;
  end if;
  return logloom_private.preview_windows(v_scope, v_rule);
exception when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
end;
$$;

create function public.preview_alert_rule(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_view_id uuid default null,
  p_for_minutes integer default null,
  p_baseline jsonb default null
)
returns public.logloom_alert_preview
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_rule_preview(
    null, p_tenant_id, p_rule_id, p_query_dsl, p_threshold, p_comparison, p_window_minutes,
    p_cooldown_minutes, p_view_id, p_for_minutes, p_baseline
  );
end;
$$;

comment on function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer, uuid, integer, jsonb
) is
  'When a rule would have fired in the last 24 hours, and the values that it would have seen: the '
  'rule p_rule_id, with the other parameters in place of its own. Percentiles, distinct counts '
  'and queries with by use adjacent windows. With by each group fires on its own. With a baseline '
  'the days before are read, too. Errors: PT400, PT401, PT403, PT404, PT408.';
