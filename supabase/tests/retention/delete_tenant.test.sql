-- A deleted tenant's callers are refused at once, and the job erases its data. Its id is free again
-- when nothing is left.
begin;
\ir ../actors.psql
\ir ../by.psql
\ir ../ingest.psql
select plan(33);

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
-- The last record is far in the future. The limit is lowered afterwards.
update logloom_private.settings set ingest_future_limit = '7 days';
select pg_temp.send_request(
  p_tenant_id => t.tenant_id, p_bytes => 3, p_ts => array[now(), now(), now() + interval '6 days'],
  p_msg => array['a', 'b', 'c']
)
from (values ('acme'), ('umbrella')) t (tenant_id);
update logloom_private.settings set ingest_future_limit = '1 hour';

select pg_temp.act_as_user('acme', 'ann');
select throws_ok(
  $$select public.delete_tenant('acmee')$$, 'PT403', 'p_tenant_id is not the tenant of the token',
  'a mistyped id deletes nothing'
);
select pg_temp.act_as_postgres();

-- Each tenant has these readers: a viewer and a key with a view, and portal sessions of a member
-- and of the project, by token and by link.
create temp table readers as
select t.tenant_id, t.n, gen_random_uuid() as view_id, gen_random_uuid() as key_id
from (values ('acme', 1), ('umbrella', 2)) t (tenant_id, n);
insert into logloom.log_views (view_id, tenant_id, name, created_by)
select r.view_id, r.tenant_id, 'v', 'ann' from readers r;
insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
values ('umbrella', 'ann', 'owner', null);
insert into logloom.tenant_members (tenant_id, user_id, role, view_id)
select r.tenant_id, 'vic', 'viewer', r.view_id from readers r;
insert into logloom.api_keys (key_id, tenant_id, name, key_prefix, key_digest, scopes, view_id)
select
  r.key_id, r.tenant_id, 'reads', 'll_bbbbbbb' || r.n,
  sha256(convert_to('key of ' || r.tenant_id, 'UTF8')), '{read}', r.view_id
from readers r;
insert into logloom.portal_sessions (
  tenant_id, view_id, created_by, token_digest, code_digest, code_expires_at, expires_at
)
select
  r.tenant_id, r.view_id, s.created_by,
  case when not s.is_link
    then sha256(convert_to(s.name || ' of ' || r.tenant_id, 'UTF8')) end,
  case when s.is_link
    then sha256(convert_to(s.name || ' of ' || r.tenant_id, 'UTF8')) end,
  case when s.is_link then now() + interval '10 minutes' end, now() + interval '1 hour'
from readers r
cross join (
  values
    ('session by ann', 'ann', false), ('session by the project', null, false),
    ('link by ann', 'ann', true), ('link by the project', null, true),
    ('opened link', null, true)
) s (name, created_by, is_link);

-- Returns the outcome of a call that the function logloom-read makes with the digest of a secret.
create function pg_temp.outcome_with(p_secret text, p_call text)
returns text
language plpgsql
as $$
declare
  v_answer text;
begin
  perform pg_temp.act_as_service_role();
  v_answer := pg_temp.attempt(format(p_call, encode(sha256(convert_to(p_secret, 'UTF8')), 'hex')));
  perform pg_temp.act_as_postgres();
  return v_answer;
end;
$$;
create function pg_temp.read_with(p_secret text)
returns text
language sql
as $$
  select pg_temp.outcome_with(p_secret, 'select public.read_logs(%L, ''search_logs'')')
$$;
create function pg_temp.open_with(p_code text)
returns text
language sql
as $$
  select pg_temp.outcome_with(p_code, 'select public.open_log_portal_session(%L)')
$$;
-- Counts a tenant's readers and their reads. key_reads has no tenant_id, so key_id finds them.
create function pg_temp.readers_of(p_tenant_id text)
returns table (
  views bigint, viewers bigint, keys bigint, key_reads numeric, sessions bigint,
  session_reads bigint
)
language sql
as $$
  select
    (select count(*) from logloom.log_views v where v.tenant_id = p_tenant_id),
    (
      select count(*) from logloom.tenant_members m
      where m.tenant_id = p_tenant_id and m.role = 'viewer'
    ),
    (select count(*) from logloom.api_keys k where k.tenant_id = p_tenant_id and k.name = 'reads'),
    (
      select sum(r.reads)
      from logloom_private.key_reads r
      where r.key_id = (select o.key_id from readers o where o.tenant_id = p_tenant_id)
    ),
    (select count(*) from logloom.portal_sessions s where s.tenant_id = p_tenant_id),
    (select sum(r.reads) from logloom_private.portal_reads r where r.tenant_id = p_tenant_id)
$$;

select is(pg_temp.read_with(r.name || ' of ' || t.tenant_id), 'accepted', r.name || ' reads')
from readers t
cross join unnest(array['key', 'session by ann', 'session by the project']) r (name);
select is(pg_temp.open_with('opened link of acme'), 'accepted', 'a link opens a session');
select results_eq(
  format('select * from pg_temp.readers_of(%L)', t.tenant_id),
  'values (1::bigint, 1::bigint, 1::bigint, 1::numeric, 5::bigint, 2::bigint)',
  t.tenant_id || ' has all kinds of readers'
)
from readers t;

select is(
  pg_temp.by('abe', $$public.delete_tenant('acme')$$), 'PT403 This requires the role owner',
  'an admin does not delete the tenant'
);
select is(
  pg_temp.by('ann', $$public.delete_tenant('umbrella')$$),
  'PT403 p_tenant_id is not the tenant of the token', 'nobody deletes another tenant'
);
select is(
  pg_temp.by('ann', 'public.delete_tenant()'),
  'PT400 Missing required parameter: p_tenant_id', 'the tenant must be named'
);
select matches(
  pg_temp.by('ann', $$public.delete_tenant('acme')$$), '^\([0-9a-f-]{36},acme,',
  'an owner deletes it'
);
select is(
  pg_temp.by('ann', 'public.list_api_keys()'),
  'PT401 Invalid token, API key, or missing tenant_id', 'tokens are refused at once'
);
select is_empty(
  'select public.claim_alert_notifications(20)', 'no mail is sent any more, not even a code'
);
select throws_ok(
  $$select pg_temp.send_request(
    p_key_digest => encode(sha256('key'), 'hex'), p_ts => array[now()]
  )$$,
  'PT401', null, 'and so are keys'
);
select throws_ok(
  $$select pg_temp.send_request(p_tenant_id => 'acme', p_ts => array[now()])$$,
  'PT404', 'There is no tenant acme', 'the project''s secret key finds no such tenant'
);
select is(
  pg_temp.read_with(r.name || ' of acme'), 'PT401 Invalid token, API key, or missing tenant_id',
  r.name || ' cannot read any more'
)
from unnest(array['key', 'session by ann', 'session by the project']) r (name);
select is(
  pg_temp.open_with(r.name || ' of acme'), 'PT401 This link has been used, or is too old',
  r.name || ' opens nothing'
)
from unnest(array['link by ann', 'link by the project']) r (name);
select is(
  pg_temp.read_with('session by the project of umbrella'), 'accepted',
  'another tenant''s session still reads'
);
update logloom_private.settings set tenants_by_users = true;
select pg_temp.act_as('authenticated', '{"sub": "newcomer"}');
select throws_ok(
  $$select public.create_tenant('acme')$$, 'PT400', 'p_tenant_id is taken',
  'the id is not free yet'
);
select pg_temp.act_as_service_role();
select is(
  (select d.tenant_id from public.delete_tenant('acme') d), 'acme',
  'a repeated call returns the running deletion'
);
select pg_temp.act_as_postgres();

-- Events acknowledged before the deletion are written, then some minutes pass. A second erasure
-- reaches the record in the future.
select logloom_private.flip_queue();
select logloom_private.write_step() from generate_series(1, 3);
update logloom_private.tenant_deletions set requested_at = now() - interval '5 minutes';
update logloom.retention_runs set requested_at = now() - interval '5 minutes';
create function pg_temp.work_off()
returns void
language sql
as $$ select pg_temp.repeat_while('logloom_private.run_deletion_step() is not null') $$;
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
      -- queue is emptied by TRUNCATE; tenant_deletions is the receipt.
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
select results_eq(
  $$select * from pg_temp.readers_of('acme')$$,
  'values (0::bigint, 0::bigint, 0::bigint, null::numeric, 0::bigint, null::bigint)',
  'nor of its readers'
);
select ok(
  (select count(*) > 4 from pg_temp.tables_with('umbrella')), 'another tenant keeps its rows'
);
select results_eq(
  $$select * from pg_temp.readers_of('umbrella')$$,
  'values (1::bigint, 1::bigint, 1::bigint, 1::numeric, 5::bigint, 3::bigint)', 'its readers'
);
select is(
  (select count(*)::integer from logloom.logs where tenant_id = 'umbrella'), 3,
  'and its records'
);
select results_eq(
  $$select erased_records, finished_at is not null, requested_by
    from logloom_private.tenant_deletions$$,
  $$values (3::bigint, true, 'ann')$$,
  'the receipt counts the erased records'
);
select pg_temp.act_as('authenticated', '{"sub": "newcomer"}');
select is(
  (select t.tenant_id from public.create_tenant('acme') t), 'acme', 'then the id is free again'
);

select * from finish();
rollback;
