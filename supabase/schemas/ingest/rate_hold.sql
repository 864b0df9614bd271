-- X-Logloom-Hold: {seconds, retry_after, limit, error}, the refusal that the function ingest may
-- give for so many seconds without asking.
create function logloom_private.rate_hold(p_error text, p_rate integer, p_tokens double precision)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'X-Logloom-Hold',
    jsonb_build_object(
      'seconds', (
        select least((1 - p_tokens) / p_rate, extract(epoch from s.rate_hold_max))
        from logloom_private.settings s
      ),
      'retry_after', ceil((1 - p_tokens) / p_rate),
      'limit', p_rate,
      'error', (logloom_private.error_named(p_error, array[p_rate::text])).message
    )::text
  );
end;
$$;
