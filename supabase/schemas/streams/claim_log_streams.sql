-- Streams whose turn it is, while the service has room for them: the tenant with the fewest under
-- way comes next. A tenant has no more under way than stay free for others, so that one whose
-- receiver hangs neither delays them nor takes every place.
create function logloom_private.next_streams(p_limit integer)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    with under_way as (
      select s.tenant_id, count(*) as streams
      from logloom.log_streams s
      where s.claimed_until > now()
      group by s.tenant_id
    ), due as (
      select
        s.stream_id, s.next_attempt_at,
        coalesce(u.streams, 0)
          + row_number() over (partition by s.tenant_id order by s.next_attempt_at) as place
      from logloom.log_streams s
      left join under_way u on u.tenant_id = s.tenant_id
      where (s.claimed_until > now()) is not true
        and (
          s.enabled and s.paused_at is null and s.pending_since is not null
          and s.next_attempt_at <= now()
          or s.test_id is not null
        )
    ), numbered as (
      select d.*, row_number() over (order by d.place, d.next_attempt_at) as taken
      from due d
    )
    select n.stream_id
    from numbered n
    cross join logloom_private.settings c
    where n.place + n.taken
      <= c.stream_open_limit - (select coalesce(sum(u.streams), 0) from under_way u) + 1
    order by n.taken
    limit p_limit
  );
end;
$$;

-- Takes streams that have something to send, for as long as a claim lasts. All whose turn it is:
-- what is not taken would come first again. Whether they may read is asked when they do.
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
    claimed_until = now() + c.stream_claim_lifetime
  from logloom_private.settings c
  cross join due d
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
  'What the edge function logloom-stream calls: takes streams that are due, p_limit 1 to 100. One '
  'of which nothing is heard in time is due again. Errors: PT400, PT409 (another project''s '
  'database).';
