begin;
\ir ../actors.psql
select plan(6);

create temp table our_tables as
select c.oid, n.nspname as schema, c.relname as name, c.relkind, c.relispartition
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('logloom', 'logloom_private') and c.relkind in ('r', 'p');

select is_empty(
  $$select t.schema, t.name
    from our_tables t join pg_class c on c.oid = t.oid
    where not (c.relrowsecurity and c.relforcerowsecurity)$$,
  'row-level security is forced on every table, partitioned ones and partitions too'
);
select ok(
  (select count(*) > 8 from our_tables t where t.relispartition)
  and (select count(*) = 2 from our_tables t where t.relkind = 'p'),
  'partitioned tables and partitions were checked'
);
select is_empty(
  $$select c.relname from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')$$,
  'the exposed schema has no table and no view'
);

-- Adds a row of acme to every tenant-owned table that a user may read.
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
insert into logloom.tenant_members (tenant_id, user_id) values ('acme', 'bob');
insert into logloom.tenant_settings (tenant_id) values ('acme');
insert into logloom.log_views (tenant_id, name, created_by) values ('acme', 'v', 'a');
insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
values ('acme', 'k', 'll_aaaaaaaa', sha256('key'));
insert into logloom.portal_sessions (tenant_id, expires_at) values ('acme', now());
insert into logloom.log_streams (tenant_id, name, kind, config, position_seq)
values ('acme', 's', 'webhook', '{}', 1);
insert into logloom.log_stream_failures (stream_id, tenant_id, kind, error)
select s.stream_id, s.tenant_id, 'refused', 'x' from logloom.log_streams s;
insert into logloom.retention_runs (tenant_id, kind, status, requested_by, ts_to)
values ('acme', 'retention', 'done', 'retention', now());
insert into logloom.archive_parts (tenant_id, first_day, last_day, write_seq, object_key, status)
values ('acme', current_date, current_date, 1, 'k', 'draft');
insert into logloom.archive_restores (
  tenant_id, requested_by, first_day, last_day, ts_from, ts_to, query_dsl, kept_until, parts
)
values ('acme', 'a', current_date, current_date, now(), now(), '', now(), 1);
insert into logloom.audit_digests (tenant_id, day, digest, previous_digest)
values ('acme', current_date, '', '');
insert into logloom.usage_days (tenant_id, day, events, bytes) values ('acme', current_date, 1, 1);
insert into logloom.logs (id, tenant_id, ts, received_at, write_seq)
values (gen_random_uuid(), 'acme', now(), now(), 1);
insert into logloom.saved_searches (tenant_id, created_by, name, query_dsl, is_shared)
values ('acme', 'alice', 'n', 'ts:*', true);
insert into logloom.error_groups (tenant_id, fingerprint, first_seen, last_seen)
values ('acme', 'f', now(), now());
insert into logloom.log_dashboards (tenant_id, created_by, name, is_shared, panels)
values ('acme', 'alice', 'n', true, '[]');
insert into logloom.alert_rules (
  tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled
)
values ('acme', 'n', 'ts:*', 1, 'gt', 5, 5, true);
insert into logloom.ingest_rules (tenant_id, position, name, action, is_on)
values ('acme', 1, 'n', '{"type": "drop"}', true);
insert into logloom.ingest_rule_hours
values ('acme', gen_random_uuid(), now(), 1, 1, 0, 1, 0, 0, 1);
insert into logloom.alert_history (tenant_id, rule_id, value, threshold)
values ('acme', gen_random_uuid(), 2, 1);
insert into logloom.alert_silences (tenant_id, starts_at, ends_at, created_by)
values ('acme', now(), now() + interval '1 hour', 'a');
insert into logloom.alert_incidents (
  tenant_id, rule_id, rule_name, window_minutes, threshold, opened_at, last_fired_at, value,
  peak_value, held_until
)
values ('acme', gen_random_uuid(), 'n', 5, 1, now(), now(), 2, 2, now());

delete from logloom.audit_events where action <> 'member.added';

create function pg_temp.rows_seen()
returns table (name text, seen bigint)
language plpgsql
as $$
declare
  v_table text;
begin
  for v_table in
    select c.relname
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'logloom'::regnamespace
      and c.relkind in ('r', 'p') and not c.relispartition
  loop
    name := v_table;
    execute format(
      'select count(t.tenant_id) from logloom.%I t where t.tenant_id = ''acme''', v_table
    )
    into seen;
    return next;
  end loop;
end;
$$;
grant execute on function pg_temp.rows_seen() to public;

select pg_temp.act_as_user('acme', 'bob');
select is_empty(
  'select * from pg_temp.rows_seen() s where s.seen <> 1',
  'a user sees the row of their tenant in each table'
);
select pg_temp.act_as_user('umbrella', 'alice');
select is_empty(
  'select * from pg_temp.rows_seen() s where s.seen <> 0',
  'a user of another tenant sees none of them'
);
select pg_temp.act_as('authenticated', '{"sub": "alice", "user_metadata": {"tenant_id": "acme"}}');
select is_empty(
  'select * from pg_temp.rows_seen() s where s.seen <> 0',
  'a user without a tenant sees none of them'
);
select pg_temp.act_as_postgres();

select * from finish();
rollback;
