-- Whose records a transaction logs. key: a hash of all inputs on which the other members depend.
-- creates_tenant: whether the first record creates the tenant.
create type logloom_private.sql_caller as (
  key bigint, tenant_id text, creates_tenant boolean, user_id text, req_id text, max_records integer
);

-- Returns whose records this session logs. The tenant is the token's, or the one that service_role
-- or the owner names. Without a tenant, or in a read-only database, writes a line to PostgreSQL's
-- log and returns a caller without a tenant.
create function logloom_private.sql_caller(p_key bigint, p_tenant_id text, p_function text)
returns logloom_private.sql_caller
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role constant name := coalesce(nullif(current_setting('role'), 'none'), session_user);
  v_claims constant jsonb := logloom_private.claims();
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_headers constant text := current_setting('request.headers', true);
  -- Headers have no nested values. Deep ones would exhaust the stack, even of pg_input_is_valid.
  v_request constant jsonb := case
    when regexp_replace(v_headers, '"(?:[^"\\]|\\.)*"', '', 'g') ~ '[[{].*[[{]' then null
    when pg_input_is_valid(v_headers, 'jsonb') then v_headers::jsonb
  end;
  v_tenant_id text := logloom_private.tenant_of_claims(v_claims);
  v_creates_tenant boolean := v_settings.provision_by_secret_key;
begin
  if v_tenant_id is not null then
    v_creates_tenant := v_settings.tenants_by_anonymous_users
      or coalesce(v_claims -> 'is_anonymous', 'false') in ('false', 'null');
    v_tenant_id := case when p_tenant_id <> v_tenant_id then null else v_tenant_id end;
  elsif v_role = 'service_role'
    and (v_claims is null or logloom_private.token_is_valid(v_claims, true))
    -- This function runs as the owner.
    or v_role <> 'service_role' and pg_has_role(v_role, current_user, 'member')
  then
    v_tenant_id := logloom_private.usable_id(p_tenant_id);
  end if;
  if logloom_private.is_read_only() or v_tenant_id is null or not v_creates_tenant
    and not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id)
  then
    raise log 'logloom.log() stores nothing from %: read-only, or the caller has no tenant',
      coalesce(p_function, 'SQL');
    return row(p_key, null, null, null, null, null)::logloom_private.sql_caller;
  end if;
  return row(
    p_key, v_tenant_id, v_creates_tenant, logloom_private.usable_id(v_claims ->> 'sub'),
    logloom_private.usable_id(left(
      coalesce(
        substring(v_request ->> 'traceparent' from '^\w\w-(\w{32})-'), v_request ->> 'x-request-id'
      ), 200
    )),
    v_settings.sql_log_events
  )::logloom_private.sql_caller;
end;
$$;

-- Adds a record of logloom.log(). Raises no error, whatever the arguments and the request are. It
-- has no block that catches errors: each call would then use up a transaction id.
create function logloom_private.add_sql_log(
  p_level text, p_msg text, p_attrs jsonb, p_service text, p_tenant_id text, p_context text
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes the table, and callers may not choose their tenant
declare
  v_us constant text := e'\x1f';
  v_max_bytes constant integer := 1 << 20;
  v_function constant text := left(
    substring(p_context from '\n(?:PL/pgSQL|SQL) function "?([^\n]+?)"? (?:line|statement) '), 200
  );
  v_key constant bigint := hashtextextended(concat(
    current_setting('role'), v_us, current_setting('request.jwt.claims', true), v_us,
    current_setting('request.headers', true), v_us, p_tenant_id, v_us,
    logloom_private.is_read_only()
  ), 0);
  -- Anybody can set these settings.
  v_kept constant text := current_setting('logloom.sql_log_caller', true);
  v_caller logloom_private.sql_caller :=
    case when pg_input_is_valid(v_kept, 'logloom_private.sql_caller')
      then v_kept::logloom_private.sql_caller end;
  v_rows constant integer :=
    substring(current_setting('logloom.sql_log_rows', true) from '^\d{1,9}$');
  v_left_out constant integer :=
    substring(current_setting('logloom.sql_log_left_out', true) from '^\d{1,9}$');
  v_is_count boolean;
begin
  -- 1. Who is calling. Stored for the transaction, because finding the caller takes longest.
  if v_caller.key is distinct from v_key then
    v_caller := logloom_private.sql_caller(v_key, p_tenant_id, v_function);
    perform set_config('logloom.sql_log_caller', v_caller::text, true);
  end if;
  if v_caller.tenant_id is null then
    return;
  end if;

  -- 2. How many records the transaction has logged. A rollback to a savepoint also restores these
  -- numbers.
  v_is_count := v_rows >= v_caller.max_records;
  if v_is_count then
    perform set_config('logloom.sql_log_left_out', (coalesce(v_left_out, 0) + 1)::text, true);
    -- A replica session runs no trigger, so this row would not become the count.
    if v_left_out > 0 or current_setting('session_replication_role') = 'replica' then
      return;
    end if;
    -- The transaction may have made all constraints immediate.
    set constraints logloom_private.sql_log_count_left_out deferred;
  else
    perform set_config('logloom.sql_log_rows', (coalesce(v_rows, 0) + 1)::text, true);
  end if;

  -- 3. The record. Its limits apply when it is moved. Here only huge values are cut.
  if pg_column_size(p_attrs) > v_max_bytes or octet_length(p_attrs::text) > v_max_bytes then
    p_attrs := jsonb_build_object('logloom_cut', jsonb_build_object('attrs', v_max_bytes));
  elsif jsonb_typeof(p_attrs) <> 'object' then
    p_attrs := jsonb_build_object('attrs', p_attrs);
  end if;
  p_attrs := jsonb_strip_nulls(jsonb_build_object('function', v_function))
    || coalesce(p_attrs, '{}');
  p_msg := left(p_msg, v_max_bytes / 4);
  insert into logloom_private.sql_log (tenant_id, creates_tenant, is_count, bytes, record)
  values (
    v_caller.tenant_id, coalesce(v_caller.creates_tenant, false), coalesce(v_is_count, false),
    coalesce(octet_length(p_msg), 0) + octet_length(p_attrs::text),
    row(
      clock_timestamp(), left(p_level, 200), p_msg, left(p_service, 200), null, v_caller.req_id,
      v_caller.user_id, null, null, nullif(p_attrs, '{}')
    )
  );
end;
$$;

-- Runs when a transaction ends: its last row then says how many records were left out. If SET
-- CONSTRAINTS runs the trigger earlier, the next record that is left out begins a new count.
create function logloom_private.count_left_out()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes the table
declare
  v_left_out constant integer := coalesce(
    substring(current_setting('logloom.sql_log_left_out', true) from '^\d{1,9}$')::integer, 1
  );
begin
  update logloom_private.sql_log l
  set record.level = 'warn',
    record.msg = format('%s more records of this transaction were left out', v_left_out),
    record.attrs = jsonb_build_object('left_out', v_left_out)
  where l.xact_id = new.xact_id and l.id = new.id;
  perform set_config('logloom.sql_log_left_out', '', true);
  return null;
end;
$$;

create constraint trigger sql_log_count_left_out
after insert on logloom_private.sql_log
deferrable initially deferred
for each row when (new.is_count)
execute function logloom_private.count_left_out();

create function logloom.log(
  level text, msg text, attrs jsonb default '{}', service text default 'sql',
  p_tenant_id text default null
)
returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_context text;
begin
  get diagnostics v_context = pg_context;
  perform logloom_private.add_sql_log(level, msg, attrs, service, p_tenant_id, v_context);
end;
$$;

comment on function logloom.log(text, text, jsonb, text, text) is
  'Logs a record in the caller''s transaction, for the token''s tenant. service_role and the owner '
  'may name p_tenant_id. It becomes visible after the commit. Raises no error.';

grant execute on function logloom.log(text, text, jsonb, text, text)
to anon, authenticated, service_role;
