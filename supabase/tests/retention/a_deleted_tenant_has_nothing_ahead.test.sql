-- A deleted tenant leaves no records behind, however far in the future they are.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(4);

update logloom_private.settings set ingest_future_limit = '7 days';
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
insert into logloom.tenant_members (tenant_id, user_id, role) values ('acme', 'ann', 'owner');
insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
values ('acme', 'k', 'll_aaaaaaaa', sha256('key'));
select pg_temp.send_request(
  p_key_digest => encode(sha256('key'), 'hex'),
  p_ts => array[now(), now() + interval '6 days'], p_msg => array['now', 'ahead']
);
select logloom_private.flip_queue();
select logloom_private.write_step() from generate_series(1, 3);
select is(
  (select count(*) from logloom.logs l where l.tenant_id = 'acme'), 2::bigint,
  'both records are stored'
);

-- The limit is smaller now.
update logloom_private.settings set ingest_future_limit = '1 hour';
select pg_temp.act_as_user('acme', 'ann');
select public.delete_tenant('acme');
select pg_temp.act_as_postgres();
select ok(
  (select r.ts_to > now() + interval '2 days' from logloom.retention_runs r),
  'the erasure reaches the stored record'
);
update logloom_private.tenant_deletions set requested_at = now() - interval '5 minutes';
select pg_temp.repeat_while('logloom_private.run_deletion_step() is not null');
select is_empty($$select l.ts from logloom.logs l where l.tenant_id = 'acme'$$, 'nothing is left');
select results_eq(
  'select d.erased_records, d.finished_at is not null from logloom_private.tenant_deletions d',
  'values (2::bigint, true)', 'and the receipt counts both'
);

select * from finish();
rollback;
