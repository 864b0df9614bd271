-- After this time a stream whose claim is not settled is due again. A batch takes less time.
create function logloom_private.stream_claim_lifetime()
returns interval
language sql
immutable
return interval '60 seconds';

-- Returns the streams that may send now.
create function logloom_private.next_streams(p_limit integer)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.next_turns(
    array(
      select row(
        s.stream_id, s.tenant_id, s.next_attempt_at, (s.claimed_until > now()) is true, v.customer
      )::logloom_private.tenant_work
      from logloom.log_streams s
      left join logloom.log_views v on v.view_id = s.view_id
      where s.claimed_until > now()
        or s.enabled and s.paused_at is null and s.pending_since is not null
          and s.next_attempt_at <= now()
        or s.test_id is not null
    ),
    (select c.stream_open_limit from logloom_private.settings c), p_limit
  );
end;
$$;

-- Claims all streams whose turn it is, even streams that may no longer read: next_stream_batch
-- pauses these. If they were left out here, they would come first again.
create function logloom_private.claim_due_streams(p_limit integer)
returns setof public.logloom_claimed_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads or writes streams
begin
  perform logloom_private.require_own_project();
  perform pg_advisory_xact_lock(logloom_private.lock_key('streams'), 0);
  return query
  with due as (
    select s.stream_id
    from logloom.log_streams s
    where s.stream_id = any (logloom_private.next_streams(p_limit))
    for no key update skip locked
  )
  update logloom.log_streams s
  set claim_id = gen_random_uuid(),
    claimed_at = now(),
    claimed_until = now() + logloom_private.stream_claim_lifetime()
  from due d
  where s.stream_id = d.stream_id
  returning s.stream_id, s.claim_id, s.tenant_id;
end;
$$;

create function public.claim_log_streams(p_limit integer default null)
returns setof public.logloom_claimed_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_limit', p_limit is null);
  if p_limit not between 1 and 100 then
    perform logloom_private.refuse('notifications.claim_limit_is_out_of_range');
  end if;
  return query select c.* from logloom_private.claim_due_streams(p_limit) c;
end;
$$;

comment on function public.claim_log_streams(integer) is
  'The edge function logloom-stream calls it to claim due streams. p_limit: 1 to 100. A stream '
  'that is not settled in time is due again. Errors: PT400, PT409 (another project''s database).';
