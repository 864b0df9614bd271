-- Headers of a refusal that tells of a limit. X-RateLimit-Reset is a Unix time.
create function logloom_private.limit_headers(
  p_state logloom_private.ingest_state,
  p_limit bigint,
  p_reset_at timestamptz
)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_state.headers || jsonb_build_object(
    'X-RateLimit-Limit', p_limit::text,
    'X-RateLimit-Remaining', '0',
    'X-RateLimit-Reset', ceil(extract(epoch from p_reset_at))::bigint::text
  );
end;
$$;
