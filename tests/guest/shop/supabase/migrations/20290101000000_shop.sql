-- A foreign project that uses as many of Logloom's names as possible.

-- The project's own time zone and date styles.
alter database postgres set timezone = 'Asia/Kathmandu';
alter database postgres set datestyle = 'SQL, DMY';
alter database postgres set intervalstyle = 'sql_standard';

create schema app;
grant usage on schema app to anon, authenticated, service_role, supabase_auth_admin;
alter default privileges in schema app grant select on tables to anon;
alter default privileges in schema public revoke all on tables from anon;

-- The project's developers have its schema first in the search_path.
alter role postgres set search_path = app, public, extensions;
alter database postgres set quote_all_identifiers = on;

create type public.tenant as (id integer, name text);

create table app.settings (singleton boolean primary key default true, motto text not null);
insert into app.settings (motto) values ('We ship');
create table public.logs (id integer primary key, level text, msg text);
insert into public.logs values (1, 'info', 'the shop opens');
grant select on public.logs to anon;
create table public.settings (id integer primary key, dark boolean);
grant select on public.settings to authenticated;

create table public.orders (
  id integer generated always as identity primary key,
  customer text not null,
  placed_at timestamptz not null default '2029-01-01 00:00:00+00',
  price double precision not null
);
alter table public.orders enable row level security;
create policy orders_select_anyone on public.orders for select to anon, authenticated using (true);
grant select, insert on public.orders to anon, authenticated;
create policy orders_insert_anyone on public.orders for insert to anon with check (true);
-- The project's editors have a role of their own.
create role editor nologin noinherit;
grant editor to authenticator;
grant usage on schema public to editor;
grant select on public.orders to editor;
create policy orders_select_editor on public.orders for select to editor using (price < 1);
insert into public.orders (customer, price) values ('ada', 0.1 + 0.2), ('bob', 1e22);

create function public.place_order(p_customer text) returns public.tenant
language sql as $$ select row(1, p_customer)::public.tenant $$;

create function public.who_am_i() returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'role', current_user, 'path', current_setting('search_path'),
    'seen', current_setting('shop.seen', true), 'float', current_setting('extra_float_digits')
  )
$$;

create function app.search_logs(p_query_dsl text default null) returns setof public.logs
language sql stable as $$ select * from public.logs $$;
create function app.ingest_text() returns text language sql as $$ select 'app' $$;

-- The pre-request function uses the request's search_path, changes settings, refuses requests.
create function public.is_welcome(p_headers json) returns boolean
language sql immutable as $$ select p_headers ->> 'x-shop' is distinct from 'closed' $$;
create function app.check_request() returns void
language plpgsql as $$
begin
  perform set_config('shop.seen', current_setting('request.path', true), true);
  perform set_config('search_path', 'app, public, extensions', true);
  perform set_config('response.headers', '[{"X-Shop": "open"}]', true);
  if not is_welcome(current_setting('request.headers', true)::json) then
    raise sqlstate 'PT418' using message = 'The shop is closed';
  end if;
end;
$$;
alter role authenticator set pgrst.db_pre_request = 'app.check_request';

create table app.members (user_id text primary key, shop text not null);
insert into app.members values ('11111111-1111-4111-8111-111111111111', 'north');
grant select on app.members to supabase_auth_admin;
create function app.token_hook(event jsonb) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'claims', event -> 'claims' || jsonb_build_object(
      'shop', (select m.shop from app.members m where m.user_id = event ->> 'user_id')
    )
  )
$$;
grant execute on function app.token_hook(jsonb) to supabase_auth_admin;
