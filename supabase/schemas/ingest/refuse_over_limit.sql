-- Raises the error of a limit. Its text has p_limit. Its headers say until when (p_reset_at), and
-- include p_headers.
create function logloom_private.refuse_over_limit(
  p_state logloom_private.ingest_state,
  p_error text,
  p_limit bigint,
  p_reset_at timestamptz,
  p_headers jsonb default '{}'
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_with_headers(
    p_state.headers || p_headers || jsonb_build_object(
      'X-RateLimit-Limit', p_limit::text,
      'X-RateLimit-Remaining', '0',
      -- A Unix time.
      'X-RateLimit-Reset', ceil(extract(epoch from p_reset_at))::bigint::text,
      'Retry-After',
      greatest(1, ceil(extract(epoch from p_reset_at - clock_timestamp())))::bigint::text
    ),
    p_error,
    p_limit::text
  );
end;
$$;
