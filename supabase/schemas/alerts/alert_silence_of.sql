-- scheduled, active or expired.
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

-- A silence as the operations show it.
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
  logloom_private.alert_silence_state(p_row.starts_at, p_row.ends_at, p_row.expired_at),
  p_row.comment, p_row.created_by, p_row.created_at, p_row.expired_at, p_row.expired_by
);

-- The silence that keeps an alert of a rule and group from being sent at a time; null for none.
create function logloom_private.silence_of_alert(
  p_tenant_id text,
  p_rule_id uuid,
  p_group jsonb,
  p_at timestamptz
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
    where s.tenant_id = p_tenant_id
      and s.starts_at <= p_at
      and s.ends_at > p_at
      and s.expired_at is null
      and (s.rule_id is null or s.rule_id = p_rule_id)
      and (s."group" is null or p_group @> s."group")
    order by s.created_at, s.silence_id
    limit 1
  );
end;
$$;
