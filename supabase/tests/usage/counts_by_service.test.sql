-- Each accepted event counts once, for its service and the day of its receipt.
begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir ../ingest.psql
select plan(11);

create or replace function logloom_private.max_counted_services()
returns integer
language sql
immutable
return 3;

create function pg_temp.move()
returns bigint
language sql
as $$
  select logloom_private.flip_queue();
  select sum(logloom_private.write_step()) from generate_series(1, 3);
$$;

create function pg_temp.counted()
returns text
language sql
as $$
  select string_agg(
    format('%s %s %s', current_date - u.day, coalesce(u.service, '-'), u.events), ', '
    order by u.day desc, u.service collate "C"
  )
  from logloom_private.usage_services u
$$;

-- A mixed request with spans, a dead letter, an event without a service and one with a long name.
select pg_temp.send_request(
  p_tenant_id => 'acme', p_spans => 2, p_ts => array_fill(now(), array[6]),
  p_service => array['api', 'web', 'api', null, 'api', repeat('x', 201)],
  p_level => array['info', 'info', 'loud', null, null, null],
  p_msg => array['a', 'b', 'c', 'd', 'eé"', 'f'],
  p_attrs => array['{"kind": "span"}', '{"kind": "span_event"}', null, null, null, null]::jsonb[]
);
select pg_temp.send_request(p_tenant_id => 'umbrella', p_ts => array[now()]);
delete from logloom.tenants where tenant_id = 'umbrella';
create temp table sent as
select e.service, sum(e.bytes) as bytes
from logloom_private.queue q, unnest(q.service, q.record_bytes) e (service, bytes)
where e.service in ('api', 'web')
group by e.service;

savepoint before_step;
select is(pg_temp.move(), 7::bigint, 'a step moves all');
rollback to before_step;
select is(pg_temp.counted(), null, 'a step that is undone counts nothing');
select pg_temp.move();
select pg_temp.move();
select is(
  pg_temp.counted(), '0 api 3, 0 web 1, 0 - 2',
  'the repeated step counts each event once, spans and dead letters too, but no deleted tenant'
);
select results_eq(
  $$select service, record_bytes from logloom_private.usage_services where service > ''
    order by 1$$,
  'select service, bytes from sent order by 1', 'with the bytes of their records'
);
update logloom_private.dead_letters set level = 'error';
select logloom_private.replay_dead_letters();
select is(pg_temp.counted(), '0 api 3, 0 web 1, 0 - 2', 'replaying a letter counts nothing');

-- The next services: only the one with more bytes gets a row of its own.
select pg_temp.send_request(
  p_tenant_id => 'acme', p_ts => array_fill(null::timestamptz, array[4]),
  p_service => array['small', 'large', 'large', 'api']
);
select pg_temp.move();
select pg_temp.send_request(
  p_tenant_id => 'acme', p_ts => array_fill(null::timestamptz, array[3]),
  p_service => array['late', 'large', 'web']
);
update logloom_private.queue set received_at = received_at - interval '1 day' where events = 3;
select pg_temp.move();
select is(
  pg_temp.counted(),
  '0 api 4, 0 large 2, 0 web 1, 0 - 3, 1 large 1, 1 late 1, 1 web 1',
  'a day has a limited number of services, those with more bytes first'
);
select results_eq(
  'select day, sum(events) from logloom_private.usage_services group by 1 order by 1',
  'select day, events::numeric from logloom.usage_days order by 1',
  'the services of a day add up to the day'
);

-- What a reader gets
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select string_agg(format('%s %s', coalesce(s.service, '-'), s.events), ', ')
    from public.get_tenant_usage(p_months => 2, p_services => 1) u, unnest(u.services) s
  ),
  '- 6, api 4, - 2, large 1', 'each day''s service with the most bytes, and all others together'
);
select throws_ok(
  format('select public.get_tenant_usage(null, %s)', c.arguments), 'PT400', c.message, c.arguments
)
from (
  values
    ('1, 0', 'Invalid p_services: 1 to 50'), ('1, 51', 'Invalid p_services: 1 to 50'),
    ('4, 1', 'Invalid p_months: at most 3 with p_services')
) c (arguments, message);
select * from finish();
rollback;
