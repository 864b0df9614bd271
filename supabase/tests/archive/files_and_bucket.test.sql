-- Tests the keys and spans of files, which files expire, and the comparison with the bucket.
begin;
\ir ../actors.psql
\ir ../stopped_clock.psql
\ir bucket.psql
select plan(28);

-- A small tenant has a file for each month, week of the month or day, as its retention is.
select is(
  logloom_private.archive_span(d::date, w.retention)::text, w.span,
  format('the file of %s with %s days of retention', d, w.retention)
)
from (
  values
    (28, '(2026-11-01,2026-11-30)', '{2026-11-05,2026-11-22,2026-11-30}'::text[]),
    (7, '(2026-11-01,2026-11-07)', '{2026-11-01}'), (7, '(2026-11-08,2026-11-14)', '{2026-11-14}'),
    (7, '(2026-11-22,2026-11-30)', '{2026-11-22,2026-11-30}'),
    (6, '(2026-11-05,2026-11-05)', '{2026-11-05}')
) w (retention, span, days)
cross join unnest(w.days) d;
select is(
  array(
    select logloom_private.archive_tenant_name(t)
    from unnest(array['acme.com', 'you@acme', 'a b/ü', '..', '!%41', repeat('ü', 100)]) t
  ),
  array[
    'acme.com', 'you@acme', 'a!20b!2F!C3!BC', '!2E.', '!21!2541',
    '!!' || encode(sha256(convert_to(repeat('ü', 100), 'UTF8')), 'hex')
  ],
  'a tenant''s id is encoded in keys, and stays unique'
);

select pg_temp.add_part(n, d, p_age => a::interval)
from (values (1, 100, '2 days'), (2, 101, '2 days'), (3, 50, '2 days'), (4, 50, '1 hour'))
  v (n, d, a);

select logloom_private.expire_archive(now());
select results_eq(
  $$ select right(p.part_id::text, 1) from logloom.archive_parts p order by 1 $$,
  $$ values ('1'), ('3'), ('4') $$,
  'files expire when their last day is older than the plan keeps'
);
select results_eq(
  $$ select g.reason, g.tenant_id, g.object_key = pg_temp.key(2)
    from logloom_private.archive_garbage g $$,
  $$ values ('expired', 'acme', true) $$,
  'and their objects are garbage'
);
delete from logloom_private.archive_garbage g where true;

select pg_temp.compare(jsonb_build_object(
  pg_temp.key(1), 90000, pg_temp.key(1, 2), 90000, pg_temp.key(9), 90000, pg_temp.key(8), 100,
  'logloom/notes.txt', 90000
));
select results_eq(
  $$ select right(p.part_id::text, 1), p.status, p.newer_key is not null
    from logloom.archive_parts p order by 1 $$,
  $$ values ('1', 'verified', true), ('3', 'missing', false), ('4', 'verified', false) $$,
  'files that are not in the bucket are missing, except new ones; a later generation is noted'
);
select results_eq(
  'select g.object_key, g.reason from logloom_private.archive_garbage g',
  $$ values (pg_temp.key(9), 'unknown') $$,
  'unknown objects are garbage after a day, only under our prefix'
);
select ok(
  (select b.compared_at is not null and b.compared_through is null
  from logloom_private.archive_bucket b),
  'the comparison is finished'
);
select pg_temp.compare(jsonb_build_object(pg_temp.key(3), 90000));
select is(p.status, 'verified', 'a file that is back is not missing')
from logloom.archive_parts p where p.part_id = pg_temp.part(3);

-- The database was restored to an earlier state, so it does not know some files of the bucket.
update logloom_private.archive_bucket b set restored_at = now() - interval '1 hour';
select pg_temp.compare(
  jsonb_build_object(pg_temp.key(7), 7200, pg_temp.key(6), 1800, pg_temp.key(3), 90000)
);
select results_eq(
  $$ select g.object_key, g.reason, g.next_attempt_at
    from logloom_private.archive_garbage g where g.reason <> 'unknown' $$,
  $$ values (pg_temp.key(7), 'later', 'infinity'::timestamptz) $$,
  'unknown objects from before the repair are kept as later'
);
select is(logloom_private.archive_health(now()) ->> 'later', '1', 'health counts it');
select matches(
  logloom_private.archive_health(now()) ->> 'reason',
  'The bucket has 1 files that are newer than the restored database', 'and says so'
);

-- An object that the bucket does not delete does not block others.
delete from logloom_private.archive_garbage g where true;
update logloom.archive_parts p set newer_key = null where true;
update logloom_private.archive_bucket b set restored_at = null where true;
create function pg_temp.add_garbage(p_key text, p_noted_at timestamptz, p_next timestamptz)
returns void
language sql
as $$
  insert into logloom_private.archive_garbage (
    tenant_id, object_key, reason, noted_at, next_attempt_at
  )
  values ('acme', p_key, 'expired', p_noted_at, p_next)
$$;
select pg_temp.add_garbage('new', now(), now()),
  pg_temp.add_garbage('old', now() - interval '3 days', now());
select pg_temp.stop_clock('due_garbage', 'put_off_garbage');
create function pg_temp.work(p_error text default null)
returns text
language plpgsql
as $$
declare
  v_work constant jsonb := logloom_private.claim_archive_work() -> 'work';
begin
  perform logloom_private.settle_archive_work((v_work ->> 'claim_id')::uuid, p_error, '{}', '[]');
  return v_work ->> 'kind';
end;
$$;
select is(
  array[
    pg_temp.work('The bucket did not delete an object: it answered 403'), pg_temp.work(),
    pg_temp.work()
  ],
  array['delete', 'check', null], 'the bucket is checked, and the objects wait'
);
select is(
  (select b.problem from logloom_private.archive_bucket b), null, 'the bucket has no problem'
);
select results_eq(
  $$ select g.object_key, g.next_attempt_at - now()
    from logloom_private.archive_garbage g order by 1 $$,
  $$ values ('new', interval '1 minute'), ('old', '1 hour') $$,
  'the older an object, the longer it waits, at most an hour'
);
select is(
  logloom_private.archive_health(now()) ->> 'reason',
  'The bucket does not delete 1 objects: see logloom_private.archive_garbage', 'health says so'
);
update logloom_private.archive_bucket b set problem = 'no answer' where true;
select is(
  logloom_private.archive_health(now()) ->> 'reason',
  'The bucket cannot be used: see problem in logloom_private.archive_bucket',
  'a bucket with a problem is reported first'
);
update logloom_private.archive_bucket b set problem = null where true;
select pg_temp.add_garbage('many', now() - interval '2 hours', now() - interval '2 hours');
select is(
  logloom_private.archive_health(now()) ->> 'reason',
  'The bucket does not delete 1 objects: see logloom_private.archive_garbage',
  'objects that were not tried yet do not count'
);
delete from logloom_private.archive_garbage g where g.object_key = 'many';
update logloom_private.settings set archive_bucket = null where true;

-- Health reports the archive.
select is(
  logloom_private.archive_health(now()) ->> 'reason',
  'settings.archive_bucket is not set', 'health reports only the missing bucket'
);
update logloom.plans set archive_days = 0;
delete from logloom.archive_parts p where true;
select is(
  logloom_private.archive_health(now()) ->> 'status', 'healthy',
  'without an archive, garbage of an earlier one does not matter'
);
delete from logloom_private.archive_garbage g where g.object_key = 'old';
select is(logloom_private.delete_archive(), 1::bigint, 'delete_archive makes everything garbage');

-- Numbers get a column of a type that fits all values, so that sum() works.
select results_eq(
  $$
    select k.key, k.kind
    from logloom_private.archive_keys(array(
      select jsonb_populate_record(null::logloom.logs, jsonb_build_object('attrs', r.attrs))
      from jsonb_array_elements('[
        {"whole": 9007199254740991, "fraction": 0.30000000000000004, "small": 1e-9,
          "id": 9007199254740993, "least": -9223372036854775808, "wei": 12345678901234567890.25,
          "mixed": 9007199254740993, "long": 123456789012345678901234567890123456789,
          "wide": 12345678901234567890123456789012345, "padded": 1.50, "text": 9007199254740993},
        {"whole": -5, "fraction": 12345678.12345679, "small": 3, "id": 2, "least": 7, "wei": 3,
          "mixed": 0.5, "long": 1, "wide": 0.0001, "padded": 1, "text": "1"}
      ]') r (attrs)
    )) k
    order by k.key collate "C"
  $$,
  $$
    values
      ('fraction', 'number'), ('id', 'exact'), ('least', 'exact'), ('long', 'json'),
      ('mixed', 'exact'), ('padded', 'json'), ('small', 'number'), ('text', 'json'),
      ('wei', 'exact'), ('whole', 'integer'), ('wide', 'json')
  $$,
  'a number becomes text only if no column type keeps its digits'
);

select * from finish();
rollback;
