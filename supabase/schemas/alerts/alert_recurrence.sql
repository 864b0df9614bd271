-- True if p_at is in an occurrence. Occurrences begin at a local time of the zone and last
-- p_recurrence.minutes. Whole days among the minutes are calendar days, as in RFC 5545: daily
-- occurrences of 1,440 minutes leave no gap when the clocks change. If the clocks skip a time,
-- PostgreSQL takes a later one. If a time comes twice, PostgreSQL takes the second.
create function logloom_private.recurs_at(p_recurrence jsonb, p_at timestamptz)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_zone constant text := p_recurrence ->> 'time_zone';
  v_minutes constant integer := p_recurrence -> 'minutes';
  v_start constant time := p_recurrence ->> 'start';
  v_day date;
begin
  v_day := p_at at time zone v_zone;
  for v_days_ago in 0 .. (v_minutes + 1439) / 1440 + 1 loop
    if p_at >= (v_day + v_start) at time zone v_zone
      and p_at < (v_day + v_minutes / 1440 + v_start) at time zone v_zone
        + make_interval(mins => v_minutes % 1440)
      and p_recurrence -> 'days' ? to_char(v_day, 'dy')
    then
      return true;
    end if;
    v_day := v_day - 1;
  end loop;
  return false;
exception when invalid_parameter_value then
  -- An update of the server removed the zone. The silence no longer applies.
  return false;
end;
$$;

-- True for UTC, Etc/GMT+n, Etc/GMT-n, and known names such as Europe/Berlin. PostgreSQL also takes
-- names such as CEST and A/B+3, but without the clock changes of a place.
create function logloom_private.time_zone_is_known(p_time_zone text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform now() at time zone p_time_zone;
  return p_time_zone
    ~ '^(UTC|[A-Za-z_]+(/[A-Za-z_-]+){1,2}|Etc/GMT[+-]([0-9]|1[0-4]))$' is true;
exception when data_exception then
  return false;
end;
$$;

-- Returns p_recurrence with its days from Monday on, each once. Raises PT400 if it is invalid.
create function logloom_private.checked_recurrence(p_recurrence jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days constant jsonb := '["mon", "tue", "wed", "thu", "fri", "sat", "sun"]';
begin
  if p_recurrence is null then
    return null;
  elsif jsonb_typeof(p_recurrence) <> 'object'
    or p_recurrence - '{days,start,minutes,time_zone}'::text[] <> '{}'
    or jsonb_typeof(p_recurrence -> 'days') is distinct from 'array'
    or p_recurrence -> 'days' = '[]'
    or not p_recurrence -> 'days' <@ v_days
    or p_recurrence ->> 'start' ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' is not true
    or jsonb_typeof(p_recurrence -> 'start') <> 'string'
    or (p_recurrence -> 'minutes')::text ~ '^[0-9]{1,5}$' is not true
    or (p_recurrence ->> 'minutes')::integer not between 1 and 10080
    or not logloom_private.time_zone_is_known(p_recurrence ->> 'time_zone')
  then
    perform logloom_private.refuse('alerts.recurrence_is_invalid');
  end if;
  return p_recurrence || jsonb_build_object('days', (
    select jsonb_agg(d.day order by d.n)
    from jsonb_array_elements(v_days) with ordinality d (day, n)
    where p_recurrence -> 'days' @> d.day
  ));
end;
$$;

-- Runs when a rule is deleted. Ends its silences: otherwise those that recur would stay forever.
create function logloom_private.end_silences_of_rule()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes silences, which stop messages to others
begin
  with ended as (
    update logloom.alert_silences s
    set expired_at = now(), expired_by = logloom_private.actor()
    where s.tenant_id = old.tenant_id and s.rule_id = old.rule_id and s.expired_at is null
      and coalesce(s.ends_at, 'infinity') > now()
    returning s.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    e.tenant_id, logloom_private.actor(), 'alert_silence.expired', e.silence_id::text,
    jsonb_build_object('rule_id', e.rule_id, 'ends_at', e.ends_at)
  from ended e
  join logloom.tenants t on t.tenant_id = e.tenant_id;
  return null;
end;
$$;

create trigger end_silences_of_rule
after delete on logloom.alert_rules
for each row execute function logloom_private.end_silences_of_rule();
