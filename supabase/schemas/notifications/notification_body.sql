-- Returns the query for the records that a rule counted: without its aggregate, and only for
-- p_group if given. Null if no query finds exactly these records.
create function logloom_private.records_query(p_query_dsl text, p_group jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query := logloom_private.compile_query(p_query_dsl);
  v_state logloom_private.query_state;
  v_bar integer;
  v_text text := p_query_dsl;
  v_group text;
begin
  if v_query.aggregate is not null then
    v_state := logloom_private.query_tokenize(p_query_dsl, now());
    -- Finds the bar before the aggregates. Only math can follow the aggregates.
    select t.position into v_bar
    from unnest(v_state.texts, v_state.positions) t (text, position)
    where t.text = '|'
    order by t.position desc
    offset coalesce(jsonb_array_length(v_query.plan -> 'math'), 0)
    limit 1;
    v_text := left(p_query_dsl, v_bar - 1);
  end if;
  v_text := coalesce(nullif(logloom_private.trim_space(v_text), ''), '*');
  if p_group is null then
    return v_text;
  end if;
  select string_agg(
    case
      when p_group ->> f is null then '-' || f || ':*'
      when f = 'level' then f || ':' || (p_group ->> f)
      else f || ':="' || replace(replace(p_group ->> f, '\', '\\'), '"', '\"') || '"'
    end, ' ' order by n
  )
  into v_group
  from unnest(v_query.by_fields) with ordinality b (f, n);
  v_text := v_text || ' | where ' || v_group;
  perform logloom_private.compile_query(v_text);
  return v_text;
exception when sqlstate 'PT400' then
  return null;
end;
$$;

create function logloom_private.percent_encoded(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(string_agg(
      case
        when c.bytes ~ '^[A-Za-z0-9_.~-]$' then c.bytes
        else regexp_replace(upper(encode(convert_to(c.bytes, 'UTF8'), 'hex')), '(..)', '%\1', 'g')
      end, '' order by c.n
    ), '')
    from regexp_split_to_table(p_text, '') with ordinality c (bytes, n)
  );
end;
$$;

-- Makes the body of a webhook: JSON of the type alert.triggered or alert.test. Other channels make
-- their messages from it. The body is stored; each attempt adds a link and the records that exist
-- then.
create function logloom_private.notification_body(
  p_type text,
  p_rule logloom.alert_rules,
  p_alert logloom.alert_history
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
begin
  return json_build_object(
    'type', p_type,
    'timestamp', to_char(p_alert.triggered_at, v_iso),
    'data', json_build_object(
      'alert_id', p_alert.alert_id,
      'rule_id', p_rule.rule_id,
      'tenant_id', p_rule.tenant_id,
      'name', p_rule.name,
      'description', p_rule.description,
      'query_dsl', p_rule.query_dsl,
      'value', p_alert.value,
      'group', p_alert."group",
      'comparison', p_rule.comparison,
      'threshold', p_alert.threshold,
      'window_minutes', p_rule.window_minutes,
      'window_start', to_char(p_alert.window_start, v_iso),
      'window_end', to_char(p_alert.window_end, v_iso),
      'triggered_at', to_char(p_alert.triggered_at, v_iso),
      'incident_id', p_alert.incident_id,
      'absent', coalesce(p_alert.absent, false),
      'kind', p_rule.kind,
      'returned', p_rule.kind = 'new_error' and exists (
        select
        from logloom.error_groups g
        where g.tenant_id = p_rule.tenant_id and g.is_regressed
          and g.fingerprint = p_alert."group" ->> 'fingerprint'
      ),
      'alerts', json_build_array(json_build_object(
        'alert_id', p_alert.alert_id,
        'group', (
          select jsonb_object_agg(
            g.key, case when length(g.value) > 200 then left(g.value, 199) || '…' else g.value end
          )
          from jsonb_each_text(p_alert."group") g
        ),
        'value', p_alert.value,
        'absent', coalesce(p_alert.absent, false)
      ))
    )
  )::text;
end;
$$;

-- Makes the body for the end of an incident, of the type alert.resolved. It shows the rule as it
-- was when the incident opened.
create function logloom_private.recovery_body(
  p_rule logloom.alert_rules,
  p_incident logloom.alert_incidents
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  v_end logloom.alert_history;
  v_body jsonb;
begin
  p_rule.name := p_incident.rule_name;
  p_rule.query_dsl := p_incident.query_dsl;
  p_rule.comparison := p_incident.comparison;
  p_rule.window_minutes := p_incident.window_minutes;
  v_end.triggered_at := p_incident.resolved_at;
  v_end.value := p_incident.value;
  v_end."group" := p_incident."group";
  v_end.threshold := p_incident.threshold;
  v_end.window_start := p_incident.opened_at - make_interval(mins => p_incident.window_minutes);
  v_end.window_end := p_incident.held_until;
  v_end.incident_id := p_incident.incident_id;
  v_end.absent := p_incident.resolution = 'still_absent';
  v_body := logloom_private.notification_body('alert.resolved', p_rule, v_end);
  return jsonb_set(v_body, '{data}', (v_body -> 'data') - 'triggered_at' || jsonb_build_object(
    'peak_value', p_incident.peak_value,
    'opened_at', to_char(p_incident.opened_at, v_iso),
    'resolved_at', to_char(p_incident.resolved_at, v_iso),
    'resolution', p_incident.resolution
  ));
end;
$$;
