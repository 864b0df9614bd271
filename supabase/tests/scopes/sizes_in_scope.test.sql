-- The size of hidden fields has no effect: pages, tails and samples are measured by their visible
-- fields, for rows and sealed records.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(15);

update logloom_private.settings set max_page_bytes = 20000;
create or replace function logloom_private.sample_bytes()
returns integer
language sql
immutable
return 20000;
insert into logloom.tenants (tenant_id, plan_id)
select t, 'pro' from unnest(array['short', 'long', 'sealed']) t;

-- Adds ten records. p_letters decides whether their hidden message is short or longer than a page.
create function pg_temp.fill(p_tenant_id text, p_letters integer)
returns void
language sql
as $$
  select pg_temp.add_records(jsonb_agg(jsonb_build_object(
    'tenant', p_tenant_id, 'ts', '2026-01-02T10:00:00Z'::timestamptz + n * interval '1 minute',
    'id', '018f0000-0000-7000-8000-00000000000' || n, 'service', 'api',
    'msg', n || repeat('x', p_letters), 'attrs', jsonb_build_object('n', n, 'a', repeat('a', 3000))
  )))
  from generate_series(0, 9) n
$$;
select pg_temp.fill('short', 1) \g /dev/null
select pg_temp.fill('long', 30000) \g /dev/null
set local logloom_test.sealed = 'all';
select pg_temp.fill('sealed', 30000) \g /dev/null
set local logloom_test.sealed = '';
update logloom.logs l set record_bytes = octet_length(l.msg) + 3000 where true;
insert into logloom_private.log_days (tenant_id, day)
select t, '2026-01-02' from unnest(array['short', 'long']) t on conflict do nothing;
insert into logloom_private.log_writes (write_seq, day) values (1, '2026-01-02')
on conflict do nothing;

create function pg_temp.scope(p_tenant_id text, p_hidden text[] default '{msg}')
returns logloom_private.reading_scope
language sql
as $$
  select row(
    p_tenant_id, null, 'key', null, p_hidden, null, null, null, null, null
  )::logloom_private.reading_scope
$$;
-- Returns the last digits of the ids, and the position of the next page.
create function pg_temp.page(p_tenant_id text, p_query text)
returns text
language sql
security definer
as $$
  select concat_ws(
    ' ',
    (select string_agg(right(l.id::text, 1), '' order by l.ts) from unnest(p.logs) l),
    case when p.next_cursor is not null
      then (logloom_private.decode_cursor(p.next_cursor, ' (\S{36})$'))[1] end
  )
  from logloom_private.read_log_page(
    pg_temp.scope(p_tenant_id), p_query, '2026-01-01', '2026-01-03', null, null, 'asc'
  ) p
$$;
create function pg_temp.tail(p_tenant_id text, p_cursor text)
returns text
language sql
security definer
as $$
  select concat_ws(
    ' ',
    (select string_agg(right(l.id::text, 1), '' order by l.ts) from unnest(t.logs) l), t.more,
    (logloom_private.decode_cursor(t.next_cursor, '^(.*)$'))[1]
  )
  from logloom_private.read_log_tail(
    pg_temp.scope(p_tenant_id), 'service:api',
    logloom_private.encode_cursor(array[p_cursor]), null, null
  ) t
$$;
create function pg_temp.fields(p_tenant_id text, p_hidden text[])
returns text
language sql
security definer
as $$
  select string_agg(format('%s %s', f.field, f.count), ', ' order by f.field collate "C")
  from logloom_private.read_log_fields(
    pg_temp.scope(p_tenant_id, p_hidden), '', '2026-01-01', '2026-01-03', null
  ) f
$$;
select pg_temp.act_as_service_role();

select is(
  pg_temp.page(t, ''), '0123456 018f0000-0000-7000-8000-000000000006',
  'a page ends when its visible fields fill it: ' || t
)
from unnest(array['short', 'long', 'sealed']) t;
select is(
  pg_temp.page(t, '| fields @n'), '0123456789', 'only shown columns count: ' || t
)
from unnest(array['short', 'long', 'sealed']) t;
select is(
  pg_temp.fields(t, h.hidden),
  'attrs.a 7, attrs.n 7, id 7, ' || h.msg || 'received_at 7, service 10, ts 7',
  format('a sample has as many: %s without %s', t, h.hidden)
)
from unnest(array['short', 'long', 'sealed']) t
cross join (values ('{msg}'::text[], ''), ('{user_id}', 'msg 7, ')) h (hidden, msg);

-- A tail whose searches are cancelled examines a few records at a time.
select pg_temp.act_as_postgres();
\ir ../search/cancelled_tails.psql
update logloom_private.settings set search_page_time = '0', max_page_bytes = 7000 where singleton;
select pg_temp.act_as_service_role();
select is(
  pg_temp.tail(t, 'tail 1'), '012 t tail 1 018f0000-0000-7000-8000-000000000002',
  'such a tail is also measured by visible fields: ' || t
)
from unnest(array['short', 'long', 'sealed']) t;

select * from finish();
rollback;
