begin;
\ir ../actors.psql
\ir records.psql
select plan(13);

-- All records are received now, but have different times.
select pg_temp.add_records($$[
  {"ago": "1 second", "msg": "on time"},
  {"ago": "12 hours", "msg": "late"},
  {"ago": "20 days", "msg": "very late"},
  {"ago": "-23 hours", "msg": "ahead"},
  {"ago": "3 days", "msg": "no time in its id", "id": "7f000000-0000-4000-8000-000000000000"},
  {"ago": "3 days", "msg": "all zeros", "id": "00000000-0000-0000-0000-000000000000"},
  {"ago": "3 days", "msg": "all ones", "id": "ffffffff-ffff-ffff-ffff-ffffffffffff"},
  {"ago": "1 second", "msg": "not yours", "tenant": "umbrella"}
]$$);
create temp table records as
select l.id, l.msg, l.ts, l.tenant_id from pg_temp.all_records() l;
grant select on records to public;
select pg_temp.act_as_user('acme', 'alice');

select is((public.get_log(r.id)).msg, r.msg, r.msg || ', without p_ts')
from records r where r.tenant_id = 'acme';
select is(
  (public.get_log(r.id, date_trunc('milliseconds', r.ts))).msg, 'very late',
  'with p_ts in milliseconds'
)
from records r where r.msg = 'very late';
select is(
  (public.get_log(r.id, now() - interval '1 year')).msg, 'late', 'a wrong p_ts is only a hint'
)
from records r where r.msg = 'late';
select throws_ok(
  format('select public.get_log(%L)', r.id), 'PT404', 'Log record not found',
  'another tenant''s record'
)
from records r where r.tenant_id = 'umbrella';
select throws_ok(
  format('select public.get_log(%L, %L)', r.id, r.ts), 'PT404', 'Log record not found',
  'also with p_ts'
)
from records r where r.tenant_id = 'umbrella';
select throws_ok(
  'select public.get_log(gen_random_uuid(), ''infinity'')', 'PT404', 'Log record not found',
  'a record that does not exist'
);
select throws_ok(
  'select public.get_log()', 'PT400', 'Missing required parameter: p_id', 'without p_id'
);

select * from finish();
rollback;
