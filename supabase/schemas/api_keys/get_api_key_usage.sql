create type public.logloom_key_reads as (operation text, day date, reads bigint);

comment on type public.logloom_key_reads is
  'How many requests of a key an operation answered on a UTC day.';

create type public.logloom_api_key_usage as (
  key_id uuid,
  name text,
  created_at timestamptz,
  last_used_at timestamptz,
  days_since_creation integer,
  days_since_last_use integer,
  reads public.logloom_key_reads[]
);

comment on type public.logloom_api_key_usage is
  'Use of an API key. days_since_…: whole days; days_since_last_use is null if the key was never '
  'used. reads: by operation and day, for the last 31 days.';

-- Records that a key is used, at most once a minute.
create function logloom_private.note_key_use(p_key logloom.api_keys)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_key.last_used_at >= date_trunc('minute', now()) then
    return;
  end if;
  -- Skips a locked row: requests must not wait for the lock, and a later request records the use.
  update logloom.api_keys k
  set last_used_at = now()
  where k.key_id = (
    select u.key_id
    from logloom.api_keys u
    where u.key_id = p_key.key_id
    for no key update skip locked
  );
end;
$$;

-- Records that a key is used, and counts the read. Uses a row that nobody has locked, or adds one,
-- so reads never wait for each other. Raises PT401 if the key has ended meanwhile.
create function logloom_private.note_key_read(p_key_digest text, p_operation text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_day constant date := logloom_private.utc_day(now());
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  end if;
  perform logloom_private.note_key_use(v_key);
  update logloom_private.key_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.key_reads f
    where f.key_id = v_key.key_id and f.day = v_day and f.operation = p_operation
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.key_reads (key_id, day, operation, reads)
    values (v_key.key_id, v_day, p_operation, 1);
  end if;
exception when read_only_sql_transaction or disk_full then
  -- The answer matters more than the count.
  null;
end;
$$;

-- Returns the counted reads of a key of the request's tenant, newest day first.
create function logloom_private.my_key_reads(p_tenant_id text, p_key_id uuid)
returns public.logloom_key_reads[]
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  return array(
    select row(r.operation, r.day, sum(r.reads))::public.logloom_key_reads
    from logloom_private.key_reads r
    join logloom.api_keys k on k.key_id = r.key_id
    where k.key_id = p_key_id and k.tenant_id = v_tenant_id
    group by r.operation, r.day
    order by r.day desc, r.operation
  );
end;
$$;

create function public.get_api_key_usage(p_tenant_id text default null, p_key_id uuid default null)
returns public.logloom_api_key_usage
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result public.logloom_api_key_usage;
begin
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  select
    k.key_id, k.name, k.created_at, k.last_used_at,
    floor(extract(epoch from now() - k.created_at) / 86400),
    floor(extract(epoch from now() - k.last_used_at) / 86400),
    logloom_private.my_key_reads(v_tenant_id, k.key_id)
  into v_result
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return v_result;
end;
$$;

comment on function public.get_api_key_usage(text, uuid) is
  'When an API key was created and last used, how many days ago, and its reads by operation and '
  'day. Errors: PT400, PT401, PT403, PT404.';
