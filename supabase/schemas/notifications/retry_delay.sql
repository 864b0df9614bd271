-- How long to wait after so many attempts: back-off with jitter, at least what the receiver asks.
create function logloom_private.retry_delay(p_attempts integer, p_retry_after integer)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select greatest(
      -- The exponent is cut so that the power stays a number; the greatest wait holds long before.
      make_interval(secs => (0.8 + 0.4 * random()) * least(
        extract(epoch from s.notification_retry_base)
          * power(s.notification_retry_factor, least(p_attempts - 1, 30)),
        extract(epoch from s.notification_retry_max)
      )),
      least(make_interval(secs => coalesce(p_retry_after, 0)), s.notification_retry_max)
    )
    from logloom_private.settings s
  );
end;
$$;
