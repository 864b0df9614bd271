-- Returns status and reason of a health check. The arguments say why it is unhealthy or degraded,
-- or are empty. Health is public, so reasons contain no text of a tenant.
create function logloom_private.health_grade(p_unhealthy text, p_degraded text)
returns jsonb
language sql
stable
return jsonb_strip_nulls(jsonb_build_object(
  'status', case
    when p_unhealthy <> '' then 'unhealthy'
    when p_degraded <> '' then 'degraded'
    else 'healthy'
  end,
  'reason', nullif(concat_ws('; ', p_unhealthy, nullif(p_degraded, '')), '')
));

-- Returns how long ago p_at was. Infinity if p_at is null, or in the future because the clock was
-- set back.
create function logloom_private.silence_since(p_at timestamptz, p_now timestamptz)
returns interval
language sql
stable
return case
  when p_at <= p_now + interval '5 seconds' then greatest(p_now - p_at, interval '0')
  else interval 'infinity'
end;

-- Returns the reason of a health check whose last success is too long ago.
create function logloom_private.silence_reason(
  p_what text,
  p_silence interval,
  p_limit interval
)
returns text
language sql
stable
return case
  when not isfinite(p_silence) then format('%s ever succeeded by this clock', p_what)
  else format(
    '%s succeeded for %s s (limit %s s)', p_what, round(extract(epoch from p_silence)),
    round(extract(epoch from p_limit), 3)::double precision
  )
end;

-- Whether this database is read-only. Also checks the default for new transactions, because
-- PostgREST begins transactions as read-write whatever the default is.
create function logloom_private.is_read_only()
returns boolean
language sql
stable
return 'on' in (
  current_setting('transaction_read_only'), current_setting('default_transaction_read_only')
);
