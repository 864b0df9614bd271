create function logloom_private.alert_silence_state(
  p_starts_at timestamptz,
  p_ends_at timestamptz,
  p_expired_at timestamptz
)
returns text
language sql
stable
return case
  when p_expired_at is not null or p_ends_at <= now() then 'expired'
  when p_starts_at > now() then 'scheduled'
  else 'active'
end;

-- A silence as operations show it.
create function logloom_private.alert_silence_of(p_row logloom.alert_silences)
returns public.logloom_alert_silence
language sql
stable
return row(
  p_row.silence_id, p_row.tenant_id,
  jsonb_strip_nulls(jsonb_build_object('rule_id', p_row.rule_id))
    || case when p_row."group" is null then '{}'
      else jsonb_build_object('group', p_row."group") end,
  p_row.starts_at, p_row.ends_at,
  logloom_private.alert_silence_state(
    case when p_row.recurrence is not null
      and not logloom_private.recurs_at(p_row.recurrence, now()) then 'infinity'
      else p_row.starts_at end,
    p_row.ends_at, p_row.expired_at
  ),
  p_row.comment, p_row.created_by, p_row.created_at, p_row.expired_at, p_row.expired_by,
  p_row.recurrence
);

-- Returns the tenant's silences in force at a time.
create function logloom_private.silences_at(p_tenant_id text, p_at timestamptz)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select s.silence_id
    from logloom.alert_silences s
    where s.tenant_id = p_tenant_id
      and s.starts_at <= p_at
      and (s.ends_at is null or s.ends_at > p_at)
      and s.expired_at is null
      and (s.recurrence is null or logloom_private.recurs_at(s.recurrence, p_at))
  );
end;
$$;

-- Returns the first of p_silences that applies to an alert of a rule and group; null if none does.
create function logloom_private.silence_of_alert(
  p_rule_id uuid,
  p_group jsonb,
  p_silences uuid[]
)
returns uuid
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select s.silence_id
    from logloom.alert_silences s
    where s.silence_id = any (p_silences)
      and (s.rule_id is null or s.rule_id = p_rule_id)
      and (s."group" is null or p_group @> s."group")
    order by s.created_at, s.silence_id
    limit 1
  );
end;
$$;

create function public.list_alert_silences(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_silence
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'silence', 'silence_id',
    (
      select s.created_at from logloom.alert_silences s
      where s.tenant_id = v_tenant_id and s.silence_id = p_after
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      logloom_private.alert_silence_of(s) as item,
      sum(octet_length(s."group"::text) + octet_length(coalesce(s.comment, ''))) over (
        order by s.created_at desc, s.silence_id desc
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select l.*
      from logloom.alert_silences l
      where l.tenant_id = v_tenant_id
        and (p_after is null or (l.created_at, l.silence_id) < (v_after, p_after))
      order by l.created_at desc, l.silence_id desc
      limit v_limit
    ) s
    order by s.created_at desc, s.silence_id desc
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

comment on function public.list_alert_silences(text, integer, uuid) is
  'Silences of the tenant, newest first, including those that ended in the last 30 days. p_limit: '
  '1 to 1000 (default 100). p_after: silence_id of the last item of the page before. Errors: '
  'PT400, PT401, PT403.';

create function logloom_private.make_alert_silence(
  p_tenant_id text,
  p_matcher jsonb,
  p_from text,
  p_to text,
  p_comment text,
  p_recurrence jsonb
)
returns public.logloom_alert_silence
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes silences, which stop messages to others
declare
  v_tenant_id constant text := logloom_private.provision_current_tenant(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_alert_silences;
  v_from constant timestamptz := coalesce(logloom_private.time_parameter('p_from', p_from), now());
  v_to constant timestamptz := logloom_private.time_parameter('p_to', p_to);
  v_recurrence constant jsonb := logloom_private.checked_recurrence(nullif(p_recurrence, 'null'));
  v_row logloom.alert_silences;
begin
  perform logloom_private.require_parameter('p_matcher', p_matcher is null);
  perform logloom_private.require_parameter('p_to', coalesce(p_to, v_recurrence::text) is null);
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
  perform pg_advisory_xact_lock(logloom_private.lock_key('alerts'), hashtext(v_tenant_id));
  -- Above a lowered limit, a silence may still replace one that this transaction ended.
  if (
    select count(*) filter (where s.expired_at is null)
      >= greatest(v_max, count(*) filter (where s.created_at < now()))
    from logloom.alert_silences s
    where s.tenant_id = v_tenant_id and coalesce(s.ends_at, 'infinity') > now()
      and coalesce(s.expired_at, now()) = now()
  ) then
    perform logloom_private.refuse('alerts.no_room_for_silence', v_max::text);
  end if;
  insert into logloom.alert_silences (
    tenant_id, rule_id, "group", starts_at, ends_at, comment, created_by, recurrence
  )
  values (
    v_tenant_id, (p_matcher ->> 'rule_id')::uuid, p_matcher -> 'group', v_from, v_to,
    nullif(logloom_private.trim_space(p_comment), ''), logloom_private.actor(), v_recurrence
  )
  returning * into v_row;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'alert_silence.created', v_row.silence_id::text,
    jsonb_build_object('rule_id', v_row.rule_id, 'starts_at', v_from, 'ends_at', v_to)
      || jsonb_strip_nulls(jsonb_build_object('recurrence', v_recurrence))
  );
  return logloom_private.alert_silence_of(v_row);
end;
$$;

create function public.create_alert_silence(
  p_matcher jsonb default null,
  p_from text default null,
  p_to text default null,
  p_comment text default null,
  p_tenant_id text default null,
  p_recurrence jsonb default null
)
returns public.logloom_alert_silence
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_alert_silence(
    p_tenant_id, p_matcher, p_from, p_to, p_comment, p_recurrence
  );
end;
$$;

comment on function public.create_alert_silence(jsonb, text, text, text, text, jsonb) is
  'Alerts that match p_matcher are not sent from p_from (default: now) to p_to. p_matcher: '
  '{"rule_id": …}, {"group": {field: text}}, both, or {} for all. Rules are still evaluated, and '
  'their alerts recorded. p_recurrence: {days, start, minutes, time_zone}, only these times; p_to '
  'may then be missing. Errors: PT400 (also the plan''s limit), PT401, PT403, PT404.';

create function logloom_private.end_alert_silence(p_tenant_id text, p_silence_id uuid)
returns public.logloom_alert_silence
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes silences, which stop messages to others
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.alert_silences;
begin
  perform logloom_private.require_parameter('p_silence_id', p_silence_id is null);
  select s.* into v_row
  from logloom.alert_silences s
  where s.tenant_id = v_tenant_id and s.silence_id = p_silence_id
  for update;
  if not found then
    perform logloom_private.refuse('alerts.silence_not_found');
  end if;
  -- A silence that has ended stays as it is.
  if v_row.expired_at is null and coalesce(v_row.ends_at, 'infinity') > now() then
    update logloom.alert_silences s
    set expired_at = now(), expired_by = logloom_private.actor()
    where s.silence_id = p_silence_id
    returning s.* into v_row;
    insert into logloom.audit_events (tenant_id, actor, action, subject, details)
    values (
      v_tenant_id, logloom_private.actor(), 'alert_silence.expired', p_silence_id::text,
      jsonb_build_object('rule_id', v_row.rule_id, 'ends_at', v_row.ends_at)
    );
  end if;
  return logloom_private.alert_silence_of(v_row);
end;
$$;

create function public.expire_alert_silence(
  p_silence_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_alert_silence
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.end_alert_silence(p_tenant_id, p_silence_id);
end;
$$;

comment on function public.expire_alert_silence(uuid, text) is
  'Ends a silence now and returns it. A silence that has ended stays as it is. Errors: PT400, '
  'PT401, PT403, PT404.';
