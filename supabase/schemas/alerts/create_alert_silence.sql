-- Makes a silence for the tenant of the caller.
create function logloom_private.make_alert_silence(
  p_tenant_id text,
  p_matcher jsonb,
  p_from text,
  p_to text,
  p_comment text
)
returns public.logloom_alert_silence
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes silences, which keep others from being told
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_alert_silences;
  v_from constant timestamptz := coalesce(
    logloom_private.time_parameter('p_from', p_from), now()
  );
  v_to constant timestamptz := logloom_private.time_parameter('p_to', p_to);
  v_row logloom.alert_silences;
begin
  perform logloom_private.require_parameter('p_matcher', p_matcher is null);
  perform logloom_private.require_parameter('p_to', p_to is null);
  if jsonb_typeof(p_matcher) <> 'object'
    or p_matcher - '{rule_id,group}'::text[] <> '{}'
    or p_matcher ? 'rule_id' and not (
      jsonb_typeof(p_matcher -> 'rule_id') = 'string'
      and pg_input_is_valid(p_matcher ->> 'rule_id', 'uuid')
    )
    or p_matcher ? 'group' and not (
      jsonb_typeof(p_matcher -> 'group') = 'object'
      and octet_length((p_matcher -> 'group')::text) <= 8192
      and not jsonb_path_exists(
        p_matcher -> 'group', '$.* ? (@.type() != "string" && @.type() != "null")'
      )
    )
  then
    perform logloom_private.refuse('alerts.matcher_is_invalid');
  elsif v_to <= v_from or v_to <= now() then
    perform logloom_private.refuse('alerts.silence_ends_too_early');
  elsif length(logloom_private.trim_space(p_comment)) > 2000 then
    perform logloom_private.refuse('alerts.silence_comment_is_too_long');
  elsif p_matcher ? 'rule_id' and not exists (
    select from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = (p_matcher ->> 'rule_id')::uuid
  ) then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('alerts'), hashtext(v_tenant_id)
  );
  if (
    select count(*) >= v_max
    from logloom.alert_silences s
    where s.tenant_id = v_tenant_id and s.ends_at > now() and s.expired_at is null
  ) then
    perform logloom_private.refuse('alerts.no_room_for_silence', v_max::text);
  end if;
  insert into logloom.alert_silences (
    tenant_id, rule_id, "group", starts_at, ends_at, comment, created_by
  )
  values (
    v_tenant_id, (p_matcher ->> 'rule_id')::uuid, p_matcher -> 'group', v_from, v_to,
    nullif(logloom_private.trim_space(p_comment), ''), logloom_private.actor()
  )
  returning * into v_row;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'alert_silence.created', v_row.silence_id::text,
    jsonb_build_object('rule_id', v_row.rule_id, 'starts_at', v_from, 'ends_at', v_to)
  );
  return logloom_private.alert_silence_of(v_row);
end;
$$;

create function public.create_alert_silence(
  p_matcher jsonb default null,
  p_from text default null,
  p_to text default null,
  p_comment text default null,
  p_tenant_id text default null
)
returns public.logloom_alert_silence
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_alert_silence(p_tenant_id, p_matcher, p_from, p_to, p_comment);
end;
$$;

comment on function public.create_alert_silence(jsonb, text, text, text, text) is
  'From p_from (now) to p_to nothing is sent of alerts that p_matcher matches: {"rule_id": …}, '
  '{"group": {field: text}}, both, or {} for all. They are evaluated and kept all the same. '
  'Errors: PT400 (plan limit, too), PT401, PT403, PT404.';
