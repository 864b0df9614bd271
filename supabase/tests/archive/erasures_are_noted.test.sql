-- An erasure writes a note to the bucket before it changes a file there. A database that does not
-- know a note repeats the erasure.
begin;
\ir ../actors.psql
\ir bucket.psql
select plan(27);

insert into logloom.tenants (tenant_id, plan_id, created_at)
select 'gone', t.plan_id, t.created_at from logloom.tenants t where t.tenant_id = 'acme';
create function pg_temp.claim()
returns json
language sql
as $$
  select logloom_private.claim_archive_work() -> 'work'
$$;
create function pg_temp.settle(p_work json, p_details jsonb default '{}')
returns void
language sql
as $$
  select logloom_private.settle_archive_work((p_work ->> 'claim_id')::uuid, null, p_details, '[]')
$$;

select pg_temp.add_part(1), pg_temp.add_part(2, p_status => 'missing');
insert into logloom.retention_runs (
  run_id, tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to
)
values (
  '00000000-0000-4000-8000-0000000000aa', 'acme', 'erasure', 'running', 'alice',
  '2026-11-21 12:00:00+00', 'user_id:u1', '1970-01-01', 'tomorrow'
);
select logloom_private.begin_archive_erasure(
  r.run_id, r.tenant_id, r.query_dsl, r.requested_at, r.ts_from, r.ts_to
)
from logloom.retention_runs r;

-- Nothing is done in the bucket while the database is still deleting records.
create temp table work as select pg_temp.claim() as work;
select is(w.work ->> 'kind', 'note', 'the note comes first') from work w;
select is(
  w.work ->> 'key', 'logloom/erasures/00000000-0000-4000-8000-0000000000aa.json',
  'under the erasure''s id'
)
from work w;
select is(
  (w.work -> 'note')::jsonb - '{ts_to,requested_at,ts_from,signature}'::text[],
  jsonb_build_object(
    'run_id', '00000000-0000-4000-8000-0000000000aa', 'tenant_id', 'acme',
    'query_dsl', 'user_id:u1', 'emptied', '[]'::jsonb, 'deletes_tenant', false
  ),
  'it contains the erasure'
)
from work w;
select pg_temp.settle(w.work) from work w;
select ok(pg_temp.claim() is null, 'files wait until the database has no match left');
select is(
  logloom_private.end_archive_erasure('00000000-0000-4000-8000-0000000000aa'), false,
  'then they are checked'
);

-- This file contains only matches.
update work set work = pg_temp.claim();
select is(
  w.work ->> 'part_id', '00000000-0000-4000-8000-000000000001', 'the first file is given out'
)
from work w;
update logloom_private.archive_claims c set records = 0 where c.kind = 'erase';
select pg_temp.settle(w.work, '{"records": 0}') from work w;
select is(
  array(select p.part_id::text from logloom.archive_parts p),
  array['00000000-0000-4000-8000-000000000002'], 'a file of matches alone is deleted'
);
delete from logloom_private.archive_garbage g where true;
update work set work = pg_temp.claim();
select is(
  w.work ->> 'part_id', '00000000-0000-4000-8000-000000000002', 'a missing file is checked, too'
)
from work w;
select pg_temp.settle(w.work, '{"missing": true}') from work w;
update work set work = pg_temp.claim();
select is(
  w.work -> 'note' ->> 'emptied', '["00000000-0000-4000-8000-000000000001"]',
  'the last note lists the deleted files'
)
from work w;
select is(
  logloom_private.end_archive_erasure('00000000-0000-4000-8000-0000000000aa'), false,
  'before that, the erasure is not done'
);
select pg_temp.settle(w.work) from work w;
select isnt(e.finished_at, null, 'afterwards it is done')
from logloom_private.archive_erasures e;
select results_eq(
  'select n.object_key, n.is_read, n.to_repeat from logloom_private.archive_notes n',
  $$values ('logloom/erasures/00000000-0000-4000-8000-0000000000aa.json', true, null::jsonb)$$,
  'the note is known'
);

-- Simulates a database that was restored to an earlier state.
create temp table note as select w.work -> 'note' as note from work w;
delete from logloom_private.archive_notes n where true;
delete from logloom_private.archive_erasures e where true;
delete from logloom.retention_runs r where true;
select pg_temp.add_part(1);
select pg_temp.compare(jsonb_build_object(
  'logloom/erasures/00000000-0000-4000-8000-0000000000aa.json', 60,
  'logloom/erasures/00000000-0000-4000-8000-0000000000bb.json', 401 * 86400
));
select is(
  array(select g.object_key from logloom_private.archive_garbage g),
  array['logloom/erasures/00000000-0000-4000-8000-0000000000bb.json'],
  'a note older than audit_lifetime is deleted'
);
update work set work = pg_temp.claim();
select is(
  w.work ->> 'kind' || ' ' || (w.work ->> 'key'),
  'recall logloom/erasures/00000000-0000-4000-8000-0000000000aa.json', 'an unknown note is read'
)
from work w;

-- Others may be able to write notes to the bucket. Lets the function read p_note and returns four
-- answers: whether the note is read, is ours, and will be repeated, and whether health warns.
-- Undoes the changes.
create function pg_temp.recalled(p_note jsonb)
returns text
language plpgsql
as $$
declare
  v_work constant json := (select w.work from work w);
begin
  perform pg_temp.settle(v_work, jsonb_build_object('note', p_note));
  raise sqlstate 'ZZ001' using message = (
    select format(
      '%s %s %s %s', n.is_read, n.is_ours, n.to_repeat is not null,
      strpos(logloom_private.archive_health(now()) ->> 'reason', '1 notes of erasures') > 0
    )
    from logloom_private.archive_notes n
    where n.object_key = v_work ->> 'key'
  );
exception
  when sqlstate 'ZZ001' then
    return sqlerrm;
end;
$$;
select is(pg_temp.recalled('null'), 't f f t', 'null is not a note');
select is(pg_temp.recalled('"x"'), 't f f t', 'a text is not a note');
select is(
  pg_temp.recalled(n.note::jsonb - 'signature'), 't f f t', 'a note without a signature is ignored'
)
from note n;
select is(
  pg_temp.recalled(n.note::jsonb || '{"deletes_tenant": true}'), 't f f t',
  'a changed note is ignored'
)
from note n;
select is(
  pg_temp.recalled(
    x.note || jsonb_build_object('signature', logloom_private.note_signature(x.note))
  ),
  't f f t', 'a note under the key of another erasure is ignored'
)
from note n, lateral (
  select n.note::jsonb || '{"run_id": "00000000-0000-4000-8000-0000000000cc"}' as note
) x;
select is(pg_temp.recalled(n.note::jsonb), 't t t f', 'its own note is accepted') from note n;

select pg_temp.settle(w.work, jsonb_build_object('note', n.note)) from work w, note n;
select is(
  array(select p.part_id::text from logloom.archive_parts p),
  array['00000000-0000-4000-8000-000000000002'], 'the files that it emptied are gone'
);
select ok(logloom_private.repeat_erasure(), 'its erasure is repeated');
select results_eq(
  $$ select r.run_id, r.status, r.query_dsl, r.requested_at from logloom.retention_runs r $$,
  $$ values ('00000000-0000-4000-8000-0000000000aa'::uuid, 'queued', 'user_id:u1',
      '2026-11-21 12:00:00+00'::timestamptz) $$,
  'as it was requested'
);
select ok(not logloom_private.repeat_erasure(), 'only once');
select is(e.emptied, array['00000000-0000-4000-8000-000000000001'::uuid], 'and needs no other note')
from logloom_private.archive_erasures e
where e.noted_at is not null;

-- Deletions of tenants are repeated.
insert into logloom_private.archive_notes (object_key, to_repeat)
select 'note-' || t, jsonb_build_object(
  'tenant_id', t, 'deletes_tenant', true, 'requested_at', '2026-11-21 12:00:00+00'
)
from unnest(array['gone', 'nobody']) t;
insert into logloom.tenants (tenant_id, plan_id, created_at)
select 'given again', p.plan_id, '2026-11-22' from logloom.plans p where p.is_default;
insert into logloom_private.archive_notes (object_key, to_repeat)
values ('note-again', '{
  "tenant_id": "given again", "deletes_tenant": true, "requested_at": "2026-11-21 12:00:00+00"
}');
select logloom_private.repeat_erasure() from generate_series(1, 3);
select is(
  array(select d.tenant_id from logloom_private.tenant_deletions d), array['gone'],
  'a deleted tenant is deleted again, unless a new tenant has its id'
);
delete from logloom_private.archive_garbage g where true;
select pg_temp.add_part(3, p_tenant => 'gone');
insert into logloom_private.archive_notes (object_key, erased_tenant)
values ('earlier', 'gone'), ('another', 'acme');
select logloom_private.begin_archive_erasure(
  r.run_id, r.tenant_id, r.query_dsl, r.requested_at, r.ts_from, r.ts_to
)
from logloom.retention_runs r
where r.tenant_id = 'gone';
update work set work = (select pg_temp.claim() from generate_series(1, 1));
select pg_temp.settle(w.work) from work w;
select is(
  array(select g.object_key from logloom_private.archive_garbage g where g.tenant_id = 'gone'),
  array['earlier'], 'its note replaces earlier notes'
);

select * from finish();
rollback;
