create function logloom_private.writer_is_silent()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return not exists (
    select
    from logloom_private.job_heartbeats h, logloom_private.settings s
    where h.job = 'write_logs' and h.last_succeeded_at > now() - s.writer_guard_silence
  );
end;
$$;

revoke all on function logloom_private.writer_is_silent() from public;

comment on function logloom_private.writer_is_silent() is
  'Whether no run of the writer succeeded for writer_guard_silence.';

create function logloom_private.ingest_headers()
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return case
    when logloom_private.writer_is_silent() then jsonb_build_object('X-Logloom-Writer', 'silent')
    else '{}'
  end;
end;
$$;

revoke all on function logloom_private.ingest_headers() from public;

comment on function logloom_private.ingest_headers() is
  'Headers of every answer to ingest: X-Logloom-Writer where pg_cron does not run the writer.';

create function logloom_private.limit_headers(
  p_limit bigint,
  p_remaining bigint,
  p_reset_at timestamptz
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.ingest_headers() || jsonb_build_object(
    'X-RateLimit-Limit', p_limit::text,
    'X-RateLimit-Remaining', greatest(p_remaining, 0)::text,
    'X-RateLimit-Reset', ceil(extract(epoch from p_reset_at))::bigint::text
  );
end;
$$;

revoke all on function logloom_private.limit_headers(bigint, bigint, timestamptz)
from public;

comment on function logloom_private.limit_headers(bigint, bigint, timestamptz) is
  'Headers of an answer to ingest that tell of a limit. X-RateLimit-Reset is a Unix time.';

create function logloom_private.seconds_until(p_at timestamptz)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return greatest(1, ceil(extract(epoch from p_at - clock_timestamp())))::bigint::text;
end;
$$;

revoke all on function logloom_private.seconds_until(timestamptz) from public;

comment on function logloom_private.seconds_until(timestamptz) is
  'Whole seconds for Retry-After, at least 1.';
