begin;
\ir ../actors.psql
select plan(14);
insert into logloom.tenants (tenant_id, plan_id)
select t.tenant_id, 'free' from unnest('{acme,demo}'::text[]) t (tenant_id)
on conflict do nothing;

create schema shop;
create function pg_temp.events(p_tenant_id text default 'acme')
returns text[]
language sql
as $$
  select array(
    select concat_ws(' ', substring(e.action from '[a-z_]+$'), e.subject,
      e.details - 'application_name')
    from logloom.audit_events e
    where e.tenant_id = p_tenant_id and e.source = 'app'
    order by e.occurred_at, e.event_id
  )
$$;
-- Runs statements without a user, and returns the events of acme since the last call.
create function pg_temp.recorded(p_statements text)
returns text[]
language plpgsql
as $$
declare
  v_events text[];
begin
  execute p_statements;
  v_events := pg_temp.events();
  delete from logloom.audit_events where tenant_id = 'acme';
  return v_events;
end;
$$;

-- 1. Columns with any name and any size
create table shop.letters (n int primary key, o jsonb, r text, c text);
select logloom.audit_table('shop.letters', tenant => 'r');
select is(
  pg_temp.recorded($$
    insert into shop.letters (n, o, r) values (1, '{"a": 1}', 'acme');
    update shop.letters set o = '2', c = 'x';
    delete from shop.letters;
    insert into shop.letters (n, r) values (2, 'acme');
    truncate shop.letters;
  $$),
  array[
    'insert 1 {"new": {"c": null, "n": 1, "o": {"a": 1}, "r": "acme"}}',
    'update 1 {"new": {"c": "x", "o": 2}, "old": {"c": null, "o": {"a": 1}}}',
    'delete 1 {"old": {"c": "x", "n": 1, "o": 2, "r": "acme"}}',
    'insert 2 {"new": {"c": null, "n": 2, "o": null, "r": "acme"}}',
    'truncate  {}'
  ], 'no column is taken for the row'
);
create table shop.files (id int primary key, tenant text, body text, data bytea, secret bytea);
select logloom.audit_table('shop.files', '{id,body,data}', '{secret}', 'tenant');
alter table shop.files alter secret set storage external;
select is(
  pg_temp.recorded($$
    insert into shop.files values (1, 'acme', repeat('é', 2500), null, repeat('x', 3000)::bytea);
    update shop.files set secret = secret || 'y';
    delete from shop.files;
  $$),
  array[
    'insert 1 {"new": {"id": 1, "body": "' || repeat('é', 2000) || '… (cut)", "data": null}}',
    'delete 1 {"old": {"id": 1, "body": "' || repeat('é', 2000) || '… (cut)", "data": null}}'
  ], 'a long row is recorded, cut'
);
select is(
  pg_temp.recorded($$
    insert into shop.files values (2, 'acme', null, null, repeat('x', 140000000)::bytea);
    update shop.files set data = secret, body = repeat('z', 20000000), secret = null;
    update shop.files set data = data || 'y', body = body || 'y';
    update shop.files set data = data;
  $$),
  array[
    'insert 2 {"new": {"id": 2, "body": null, "data": null}}',
    'update 2 {"new": {"body": "' || repeat('z', 2000) || '… (cut)", "data": "\\x'
      || repeat('78', 999) || '… (cut)"}, "old": {"body": null, "data": null}}',
    'update 2 {"new": {"body": "' || repeat('z', 2000) || '… (cut)", "data": "\\x'
      || repeat('78', 999) || '… (cut)"}, "old": {"body": "' || repeat('z', 2000)
      || '… (cut)", "data": "\\x' || repeat('78', 999) || '… (cut)"}}'
  ], 'values that jsonb cannot hold are cut, and no change of them is missed'
);

-- 2. Types whose owner is not Logloom's
create type shop.mood as enum ('good', 'bad');
create domain shop.amount as int;
create function shop.cast(shop.mood) returns json language plpgsql
as $$ begin raise exception 'runs as %', current_user; end $$;
create cast (shop.mood as json) with function shop.cast(shop.mood);
create table shop.moods (
  id shop.amount primary key, tenant text, mood shop.mood, moods shop.mood[]
);
select logloom.audit_table('shop.moods', tenant => 'tenant');
select is(
  pg_temp.recorded($$
    insert into shop.moods values (1, 'acme', 'good', '{bad,good}'), (2, 'acme', null, null);
    update shop.moods set mood = 'bad' where id = 1
  $$),
  array[
    'insert 1 {"new": {"id": 1, "mood": "good", "moods": "{bad,good}", "tenant": "acme"}}',
    'insert 2 {"new": {"id": 2, "mood": null, "moods": null, "tenant": "acme"}}',
    'update 1 {"new": {"mood": "bad"}, "old": {"mood": "good"}}'
  ], 'a cast to json of somebody else never runs as the owner of Logloom'
);

-- 3. The tenant of a row
create table shop.orders (id int primary key, tenant text, note text, secret text);
select logloom.audit_table('shop.orders', ignore => '{secret}', tenant => 'tenant');
insert into shop.orders values (1, 'acme', 'x', 's'), (2, null, 'x', 's');
delete from logloom.audit_events where tenant_id = 'acme';
select is(
  pg_temp.recorded($$
    update shop.orders set tenant = null where id = 1;
    update shop.orders set tenant = 'acme' where id = 2;
  $$),
  array[
    'delete 1 {"old": {"id": 1, "note": "x", "tenant": "acme"}}',
    'insert 2 {"new": {"id": 2, "note": "x", "tenant": "acme"}}'
  ], 'a row leaves its tenant for none, and comes from none'
);
select pg_temp.act_as('none', '{"role": "authenticated", "tenant_id": "demo", "sub": "dora"}');
select is(
  pg_temp.recorded($$update shop.orders set tenant = case when id = 1 then 'acme' end$$),
  array[
    'insert 1 {"new": {"id": 1, "note": "x", "tenant": "acme"}}',
    'delete 2 {"old": {"id": 2, "note": "x", "tenant": "acme"}}'
  ], 'without a tenant a row is the token''s tenant''s'
);
select is(
  pg_temp.events('demo'),
  array[
    'delete 1 {"old": {"id": 1, "note": "x", "tenant": null}}',
    'insert 2 {"new": {"id": 2, "note": "x", "tenant": null}}'
  ], 'and leaves it or comes to it'
);
delete from logloom.audit_events where tenant_id = 'demo';

-- 4. Columns that have other names
alter table shop.orders rename secret to old_secret;
alter table shop.orders add secret text;
select is(
  pg_temp.recorded($$update shop.orders set old_secret = 't', secret = 'u' where id = 1$$),
  '{"update 1 {\"columns_have_changed\": true}"}',
  'a renamed ignored column is not recorded when another one takes its name'
);
alter table shop.orders drop secret;
alter table shop.orders rename old_secret to secret;
alter table shop.orders rename tenant to customer;
alter table shop.orders rename id to number;
select is(
  pg_temp.recorded($$update shop.orders set note = 'y' where number = 1; truncate shop.orders$$),
  '{"update 1 {\"columns_have_changed\": true}","truncate  {}"}',
  'a renamed tenant column and a renamed key are still what they were'
);
alter table shop.orders drop customer;
select is(
  pg_temp.recorded($$insert into shop.orders values (3, 'x', 's')$$) || pg_temp.events('demo'),
  '{"truncate  {}","insert 3 {\"columns_have_changed\": true}"}',
  'without the tenant column the token''s tenant gets the event'
);
select logloom.audit_table('shop.orders', ignore => '{secret}');
-- A restored table has another oid, and other numbers if columns were dropped.
create table shop.restored (number int, note text, secret text);
do $$
begin
  execute (
    select regexp_replace(pg_get_triggerdef(t.oid), 'shop.orders', 'shop.restored')
    from pg_trigger t
    where t.tgrelid = 'shop.orders'::regclass and t.tgname = 'logloom_audit_insert'
  );
end;
$$;
delete from logloom.audit_events where tenant_id = 'demo';
insert into shop.restored values (4, 'x', 's');
select is(
  pg_temp.events('demo'), '{"insert 4 {\"new\": {\"note\": \"x\", \"number\": 4}}"}',
  'a restored table is recorded without the ignored column'
);

select logloom.audit_table('shop.restored', columns => '{note}');
alter table shop.restored drop note;
select is(
  pg_temp.recorded('update shop.restored set number = 5') || (pg_temp.events('demo'))[2:],
  '{"update  {\"columns_have_changed\": true}"}', 'a table of whose columns none is left to record'
);

-- 5. What is no table
select throws_ok(
  format('select logloom.audit_table(%L)', t.name), 'PT400', 'Invalid p_table: a table',
  coalesce(t.name, 'null')
)
from (values (null), ('pg_tables')) t (name);
select * from finish();
rollback;
