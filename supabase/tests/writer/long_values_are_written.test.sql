begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(3);

update logloom_private.settings set max_record_bytes = 8388608 where singleton;
-- The text is random, so that compression does not shorten it.
create temp table long as
select string_agg(md5(i::text), '' order by i) as value from generate_series(1, 3500) i;
select pg_temp.send_request(
  p_tenant_id => 'acme', p_ts => array[now()],
  p_msg => array[value], p_service => array[value], p_env => array[value],
  p_req_id => array[value], p_user_id => array[value], p_route => array[value],
  p_host => array[value], p_attrs => array[jsonb_build_object('a', value)]
)
from long;
select logloom_private.flip_queue();
select logloom_private.write_step();

select is_empty('select error_message from logloom_private.dead_letters', 'nothing is too long');
select is(
  (select count(*)::integer from logloom.logs l, long where l.req_id = long.value), 1,
  'a value longer than an index entry is written'
);
select results_eq(
  format(
    'select count(*)::integer from logloom.logs l where %s',
    (logloom_private.compile_query(format('req_id:(%s %s)', repeat('x', 400), left(value,
      400)))).filter
  ),
  $$values (0)$$,
  'and is found only by its whole value'
)
from long;

select * from finish();
rollback;
