-- The plan limits active API keys. Up to the same number of ended keys is kept.
begin;
\ir ../actors.psql
select plan(7);

update logloom.plans set max_api_keys = 3 where plan_id = 'free';
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.attempt(format('select public.create_api_key(p_name => %L)', n)), 'accepted',
  'there is room for key ' || n
)
from generate_series(1, 3) n;
select is(
  pg_temp.attempt('select public.create_api_key(p_name => ''4'')'),
  'PT400 Plan limit exceeded: API keys (max 3)', 'there is no room for another'
);
select is(
  pg_temp.attempt('select public.rotate_api_key(p_key_id => (select k.key_id '
    'from public.list_api_keys() k where k.name = ''1''))'),
  'accepted', 'a key can be rotated all the same'
);
create function pg_temp.create_and_revoke()
returns void
language plpgsql
as $$
begin
  perform public.revoke_api_key(p_key_id => k.key_id) from public.list_api_keys() k
  where k.status = 'active';
  perform public.create_api_key(p_name => 'again');
end;
$$;
select pg_temp.create_and_revoke() from generate_series(1, 20);
select is(
  (select count(*) from public.list_api_keys() k where k.status = 'active'), 1::bigint,
  'revoking makes room'
);
select cmp_ok(
  (select count(*) from public.list_api_keys()), '<=', 5::bigint,
  'ended keys do not pile up'
);

select * from finish();
rollback;
