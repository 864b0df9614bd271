create function logloom_private.read_archive(p_tenant_id text, p_limit integer, p_after uuid)
returns setof public.logloom_archive_part
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles do not read logloom_private.settings
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_after logloom.archive_parts;
begin
  perform logloom_private.require_role(v_tenant_id, 'member');
  select p.* into v_after
  from logloom.archive_parts p
  where p.tenant_id = v_tenant_id and p.part_id = p_after and p.status <> 'draft';
  if p_after is not null and v_after.part_id is null then
    perform logloom_private.refuse('parameters.no_such_place', 'file', 'part_id');
  end if;
  return query
  select
    p.part_id, p.tenant_id, p.first_day, p.last_day, p.first_ts, p.last_ts, p.records, p.bytes,
    p.status, p.verified_at, s.archive_bucket, p.object_key, p.sha256
  from logloom.archive_parts p
  cross join logloom_private.settings s
  where p.tenant_id = v_tenant_id and p.status <> 'draft'
    and (p_after is null or (p.last_day, p.number) < (v_after.last_day, v_after.number))
  order by p.last_day desc, p.number desc
  limit p_limit;
end;
$$;

create function public.list_log_archive(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_archive_part
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select a.*
  from logloom_private.read_archive(p_tenant_id, logloom_private.list_limit(p_limit), p_after) a;
end;
$$;

comment on function public.list_log_archive(text, integer, uuid) is
  'Lists the files of the tenant''s archive; files of the latest days come first. For members. '
  'p_limit 1 to 1000 (default 100), p_after: part_id of the last item of the page before. Errors: '
  'PT400, PT401, PT403.';

create function public.list_log_archive_restores(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_archive_restore
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'restore', 'restore_id',
    (
      select r.requested_at from logloom.archive_restores r
      where r.tenant_id = v_tenant_id and r.restore_id = p_after
    )
  );
begin
  perform logloom_private.require_role(v_tenant_id, 'member');
  return query
  select
    r.restore_id, r.tenant_id, r.requested_by, r.requested_at, r.ts_from, r.ts_to, r.query_dsl,
    r.kept_until, r.status, r.parts, r.parts_done, r.records, r.bytes, r.finished_at, r.error
  from logloom.archive_restores r
  where r.tenant_id = v_tenant_id
    and (p_after is null or (r.requested_at, r.restore_id) < (v_after, p_after))
  order by r.requested_at desc, r.restore_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_archive_restores(text, integer, uuid) is
  'Lists the restores from the tenant''s archive, newest first. For members. p_limit 1 to 1000 '
  '(default 100), p_after: restore_id of the last item of the page before. Errors: PT400, PT401, '
  'PT403.';

-- Returns the records of a file as rows. p_records: the records as the function logloom-archive
-- read them.
create function logloom_private.archived_records(p_part logloom.archive_parts, p_records jsonb)
returns logloom.logs[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_records logloom.logs[];
begin
  select array_agg(r order by i.n) into v_records
  from jsonb_array_elements(p_records) with ordinality i (item, n)
  cross join jsonb_populate_record(
    null::logloom.logs,
    i.item || jsonb_build_object('tenant_id', p_part.tenant_id, 'write_seq', p_part.write_seq)
  ) r;
  if cardinality(v_records) is distinct from p_part.records then
    raise sqlstate 'LL001' using message = format(
      'The file %s has %s records, not %s', p_part.object_key,
      coalesce(cardinality(v_records), 0), p_part.records
    );
  end if;
  return v_records;
end;
$$;

-- Returns the places (from 0) of a file's records that an erasure matches.
create function logloom_private.match_archive(p_claim_id uuid, p_records jsonb)
returns integer[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because the API roles cannot read claims or compile queries
declare
  v_claim logloom_private.archive_claims;
  v_erasure logloom_private.archive_erasures;
  v_part logloom.archive_parts;
  v_query logloom_private.compiled_query;
  v_records logloom.logs[];
  v_found integer[];
begin
  select c.* into v_claim
  from logloom_private.archive_claims c
  where c.claim_id = p_claim_id and c.kind = 'erase'
  for update;
  if not found then
    perform logloom_private.refuse('archive.claim_not_found');
  end if;
  select e.* into v_erasure
  from logloom_private.archive_erasures e
  where e.run_id = v_claim.run_id;
  select p.* into v_part from logloom.archive_parts p where p.part_id = v_claim.part_id;
  v_records := logloom_private.archived_records(v_part, p_records);
  v_query := logloom_private.compile_query(v_erasure.query_dsl, v_erasure.requested_at);
  execute format(
    $query$
      select coalesce(array_agg(l.place order by l.place), '{}')
      from (select r.*, row_number() over ()::integer - 1 as place from unnest($1) r) l
      where l.ts >= %L::timestamptz and l.ts < %L::timestamptz and (%s)
    $query$,
    v_erasure.ts_from, v_erasure.ts_to, v_query.filter
  )
  into v_found
  using v_records;
  update logloom_private.archive_claims c
  set records = v_part.records - cardinality(v_found), first_ts = k.first_ts, last_ts = k.last_ts
  from (
    select min(r.ts) as first_ts, max(r.ts) as last_ts
    from unnest(v_records) with ordinality r
    where r.ordinality - 1 <> all (v_found)
  ) k
  where c.claim_id = p_claim_id;
  return v_found;
end;
$$;

create function public.match_log_archive(p_claim_id uuid default null, p_records jsonb default null)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '20s'
as $$
begin
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_records', p_records is null);
  return to_jsonb(logloom_private.match_archive(p_claim_id, p_records));
end;
$$;

comment on function public.match_log_archive(uuid, jsonb) is
  'For the edge function logloom-archive: returns the places (from 0) of the records that the '
  'claimed erasure matches. Errors: PT400, PT404.';
