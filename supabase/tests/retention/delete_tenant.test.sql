-- A deleted tenant: refused at once, erased by the job, its id free when nothing is left.
begin;
\ir ../actors.psql
select plan(15);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('umbrella', 'free');
insert into logloom.tenant_members (tenant_id, user_id, role)
values ('acme', 'ann', 'owner'), ('acme', 'abe', 'admin');
insert into logloom.tenant_settings (tenant_id) values ('acme'), ('umbrella');
insert into logloom.api_keys (tenant_id, name, key_prefix, key_digest)
values ('acme', 'k', 'll_aaaaaaaa', sha256('key'));
insert into logloom.saved_searches (tenant_id, created_by, name, query_dsl, is_shared)
values ('acme', 'ann', 'n', 'ts:*', true), ('umbrella', 'uma', 'n', 'ts:*', true);
insert into logloom.log_dashboards (tenant_id, created_by, name, panels)
values ('acme', 'ann', 'n', '[]');
insert into logloom.alert_rules (
  tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled
)
values ('acme', 'n', 'ts:*', 1, 'gt', 5, 5, true);
update logloom.alert_rules
set notification_destinations = '{email}', notification_config = '{"email": "a@acme.example"}'
where tenant_id = 'acme';
insert into logloom_private.notification_addresses (tenant_id, mailbox, confirmed_at)
values ('acme', 'c@acme.example', now()), ('umbrella', 'c@umbrella.example', now());
insert into logloom_private.notification_usage (tenant_id, channel, hour, attempts)
values ('acme', 'email', now(), 1), ('umbrella', 'email', now(), 1);
select public.ingest_logs(
  p_tenant_id => t.tenant_id, p_bytes => 3, p_ts => array[now(), now(), now()]::timestamptz[],
  p_msg => array['a', 'b', 'c']
)
from (values ('acme'), ('umbrella')) t (tenant_id);

create function pg_temp.by(p_user_id text, p_call text)
returns text
language plpgsql
as $$
declare
  v_answer text;
begin
  perform pg_temp.act_as_user('acme', p_user_id);
  v_answer := pg_temp.attempt(p_call);
  perform pg_temp.act_as_postgres();
  return v_answer;
end;
$$;

select is(
  pg_temp.by('abe', $$select public.delete_tenant('acme')$$), 'PT403 This requires the role owner',
  'an admin does not delete the tenant'
);
select is(
  pg_temp.by('ann', $$select public.delete_tenant('umbrella')$$),
  'PT403 p_tenant_id is not the tenant of the token', 'nor does anybody another one'
);
select is(
  pg_temp.by('ann', 'select public.delete_tenant()'),
  'PT400 Missing required parameter: p_tenant_id', 'it has to be named'
);
select is(pg_temp.by('ann', $$select public.delete_tenant('acme')$$), 'accepted', 'an owner does');
select is(
  pg_temp.by('ann', 'select public.list_api_keys()'),
  'PT401 Invalid token, API key, or missing tenant_id', 'tokens are refused at once'
);
select is_empty(
  'select public.claim_alert_notifications(20)', 'nobody is mailed any more, not even a code'
);
select throws_ok(
  $$select public.ingest_logs(p_key_digest => encode(sha256('key'), 'hex'), p_ts => array[now()])$$,
  'PT401', null, 'and so are keys'
);
select throws_ok(
  $$select public.ingest_logs(p_tenant_id => 'acme', p_ts => array[now()])$$,
  'PT404', 'There is no tenant acme', 'for the project''s secret key there is no such tenant'
);
update logloom_private.settings set tenants_by_users = true;
select pg_temp.act_as('authenticated', '{"sub": "newcomer"}');
select throws_ok(
  $$select public.create_tenant('acme')$$, 'PT400', 'p_tenant_id is taken',
  'nobody gets the id meanwhile'
);
select pg_temp.act_as_service_role();
select is(
  (select d.tenant_id from public.delete_tenant('acme') d), 'acme',
  'service_role asks how far it is'
);
select pg_temp.act_as_postgres();

-- What was acknowledged before is written, then a minute goes by.
select logloom_private.flip_queue();
select logloom_private.write_step() from generate_series(1, 3);
update logloom_private.tenant_deletions set requested_at = now() - interval '5 minutes';
create function pg_temp.work_off()
returns void
language plpgsql
as $$
begin
  for i in 1..50 loop
    exit when logloom_private.run_deletion_step() is null;
  end loop;
end;
$$;
select pg_temp.work_off();

create function pg_temp.tables_with(p_tenant_id text)
returns setof text
language plpgsql
as $$
declare
  v_table text;
  v_found boolean;
begin
  for v_table in
    select a.attrelid::regclass::text
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_namespace n on n.oid = c.relnamespace
    where a.attname = 'tenant_id' and n.nspname in ('logloom', 'logloom_private')
      and c.relkind in ('r', 'p') and not c.relispartition
      -- Emptied by TRUNCATE, slot by slot, and the receipt.
      and c.relname not in ('queue', 'tenant_deletions')
  loop
    execute format('select exists (select from %s t where t.tenant_id = $1)', v_table)
    into v_found using p_tenant_id;
    if v_found then
      return next v_table;
    end if;
  end loop;
end;
$$;
select is_empty($$select pg_temp.tables_with('acme')$$, 'nothing of the tenant is left anywhere');
select ok(
  (select count(*) > 4 from pg_temp.tables_with('umbrella')), 'another tenant has all that it had'
);
select is(
  (select count(*)::integer from logloom.logs where tenant_id = 'umbrella'), 3,
  'and all of its records'
);
select results_eq(
  $$select erased_records, finished_at is not null, requested_by
    from logloom_private.tenant_deletions$$,
  $$values (3::bigint, true, 'ann')$$,
  'the receipt says what was erased'
);
select pg_temp.act_as('authenticated', '{"sub": "newcomer"}');
select is(
  (select t.tenant_id from public.create_tenant('acme') t), 'acme', 'then the id is free again'
);

select * from finish();
rollback;
