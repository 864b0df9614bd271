-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- archive/types/archive.sql
create type public.logloom_archive_part as (
  part_id uuid,
  tenant_id text,
  first_day date,
  last_day date,
  ts_from timestamptz,
  ts_to timestamptz,
  records integer,
  bytes bigint,
  status text,
  verified_at timestamptz,
  bucket text,
  key text,
  sha256 text
);

comment on type public.logloom_archive_part is
  'A file of the archive. ts_from and ts_to: of its first and its last record. status: verified, '
  'or missing where the bucket has it no more. key: where it is in the bucket.';

create type public.logloom_archive_restore as (
  restore_id uuid,
  tenant_id text,
  requested_by text,
  requested_at timestamptz,
  ts_from timestamptz,
  ts_to timestamptz,
  query_dsl text,
  kept_until timestamptz,
  status text,
  files integer,
  files_done integer,
  records bigint,
  bytes bigint,
  finished_at timestamptz,
  error text
);

comment on type public.logloom_archive_restore is
  'Records that are brought back from the archive: queued, running, done, or failed with error. '
  'ts_from inclusive, ts_to exclusive. files: how many are to be read; bytes: what was read of '
  'them; records: what came back. kept_until: when they go again.';

-- archive/tables/archive_bucket.sql
create table logloom_private.archive_bucket (
  singleton boolean primary key default true,
  installation_id uuid not null default gen_random_uuid(),
  bucket text,
  prefix text,
  checked_at timestamptz,
  problem text,
  planned_at timestamptz,
  planned_through text,
  compared_at timestamptz,
  compared_through text,
  restored_at timestamptz,
  note_key bytea not null default extensions.gen_random_bytes(32),
  constraint archive_bucket_has_one_row check (singleton)
);

insert into logloom_private.archive_bucket default values;

comment on table logloom_private.archive_bucket is
  'What is known of the bucket of the archive, and how far planning and comparing have come.';

comment on column logloom_private.archive_bucket.installation_id is
  'Whose files they are: it stands in <prefix>/logloom.json, so that no two installations share a '
  'prefix.';

comment on column logloom_private.archive_bucket.bucket is
  'The bucket, and prefix, that checked_at and problem are about.';

comment on column logloom_private.archive_bucket.problem is
  'Why nothing is archived: what the last check of the bucket found. Null: nothing.';

comment on column logloom_private.archive_bucket.planned_through is
  'Up to this tenant a round of planning has come; null where none is under way.';

comment on column logloom_private.archive_bucket.compared_through is
  'Up to this key the bucket was compared with archive_parts; null where no round is under way.';

comment on column logloom_private.archive_bucket.restored_at is
  'When the database was last repaired: what the bucket had by then and nobody knows is of a later '
  'state.';

comment on column logloom_private.archive_bucket.note_key is
  'Signs the notes of erasures: whoever may write to the bucket can have nothing erased here.';

-- archive/tables/archive_claims.sql
create table logloom_private.archive_claims (
  claim_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  kind text not null,
  part_id uuid,
  run_id uuid,
  object_key text,
  records integer,
  first_ts timestamptz,
  last_ts timestamptz,
  last_id uuid,
  claimed_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  constraint archive_claims_kind_is_known check (
    kind in (
      'adopt', 'check', 'compare', 'delete', 'erase', 'note', 'recall', 'restore', 'write'
    )
  )
);

create unique index archive_claims_tenant_id_idx on logloom_private.archive_claims (tenant_id);

comment on table logloom_private.archive_claims is
  'Leases of the function logloom-archive: one of a tenant at a time, and one, of no tenant, for '
  'what is about the bucket.';

-- archive/tables/archive_endpoint.sql
create table logloom_private.archive_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint archive_endpoint_has_one_row check (singleton)
);

insert into logloom_private.archive_endpoint default values;

comment on table logloom_private.archive_endpoint is
  'Where the edge function logloom-archive is, and the secret that it knows its caller by.';

-- archive/tables/archive_erasures.sql
create table logloom_private.archive_erasures (
  run_id uuid primary key,
  tenant_id text not null,
  query_dsl text not null,
  requested_at timestamptz not null,
  ts_from timestamptz not null,
  ts_to timestamptz not null,
  began_at timestamptz not null default clock_timestamp(),
  parts_through bigint,
  position_number bigint not null default 0,
  records bigint not null default 0,
  parts integer not null default 0,
  failures integer not null default 0,
  error text,
  next_attempt_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  noted_at timestamptz,
  emptied uuid[] not null default '{}'
);

create index archive_erasures_tenant_id_idx on logloom_private.archive_erasures (tenant_id);

comment on table logloom_private.archive_erasures is
  'Erasures as they reach the archive: files up to parts_through, which is fixed once the '
  'database holds no match any more. Nothing that was read before is archived meanwhile.';

comment on column logloom_private.archive_erasures.noted_at is
  'Since when the bucket has a note of it, or needs none; null: that is to be written.';

comment on column logloom_private.archive_erasures.emptied is
  'Parts that held nothing but matches, so that their objects were deleted.';

-- archive/tables/archive_garbage.sql
create table logloom_private.archive_garbage (
  object_key text primary key,
  tenant_id text not null,
  reason text not null,
  noted_at timestamptz not null default clock_timestamp(),
  next_attempt_at timestamptz not null default clock_timestamp(),
  constraint archive_garbage_reason_is_known check (
    reason in ('erased', 'expired', 'abandoned', 'unknown', 'later')
  )
);

create index archive_garbage_next_attempt_at_idx
on logloom_private.archive_garbage (next_attempt_at);
create index archive_garbage_tenant_id_idx on logloom_private.archive_garbage (tenant_id);

comment on table logloom_private.archive_garbage is
  'Objects of the archive that are to be deleted. A row goes when the bucket has the object no '
  'more. later: a file from after the state that the database was brought back to, which may have '
  'the only copy of records. It stays until next_attempt_at is set.';

-- archive/tables/archive_notes.sql
create table logloom_private.archive_notes (
  object_key text primary key,
  erased_tenant text,
  is_read boolean not null default true,
  is_ours boolean not null default true,
  to_repeat jsonb
);

create index archive_notes_erased_tenant_idx on logloom_private.archive_notes (erased_tenant);
create index archive_notes_open_idx on logloom_private.archive_notes (object_key)
where not is_read or to_repeat is not null;

comment on table logloom_private.archive_notes is
  'Notes of erasures that the bucket has. One that is not here was made after the state that the '
  'database was brought back to, so its erasure is repeated. They outlive their tenant, whose id '
  'may be given again; hence no tenant_id.';

comment on column logloom_private.archive_notes.is_read is
  'False: found in the bucket, and yet to be read.';

comment on column logloom_private.archive_notes.to_repeat is
  'What was read: an erasure that retention is to repeat.';

comment on column logloom_private.archive_notes.is_ours is
  'False: it was read and is not signed by archive_bucket.note_key, so nothing came of it.';

-- archive/tables/archive_parts.sql
create table logloom.archive_parts (
  part_id uuid primary key default gen_random_uuid(),
  number bigint generated always as identity,
  tenant_id text not null,
  first_day date not null,
  last_day date not null,
  write_seq bigint not null,
  generation integer not null default 1,
  object_key text not null,
  status text not null,
  first_ts timestamptz,
  last_ts timestamptz,
  records integer,
  bytes bigint,
  sha256 text,
  created_at timestamptz not null default clock_timestamp(),
  verified_at timestamptz,
  newer_key text,
  constraint archive_parts_status_is_known check (status in ('draft', 'verified', 'missing')),
  constraint archive_parts_verified_is_known check (
    status = 'draft'
    or records > 0 and bytes > 0 and sha256 is not null and verified_at is not null
      and first_ts is not null and last_ts is not null
  )
);

create index archive_parts_tenant_id_number_idx on logloom.archive_parts (tenant_id, number);
create index archive_parts_tenant_id_last_day_idx on logloom.archive_parts (tenant_id, last_day);
create index archive_parts_newer_key_idx on logloom.archive_parts (part_id)
where newer_key is not null;

create unique index archive_parts_object_key_idx on logloom.archive_parts (object_key);

create policy archive_parts_select_tenant on logloom.archive_parts
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.archive_parts to authenticated, service_role;

comment on table logloom.archive_parts is
  'The files of the archive, one for each part. draft: being written; verified: read back and '
  'equal to the records of the database; missing: the bucket had it no more.';

comment on column logloom.archive_parts.number is
  'The order in which parts were made: an erasure looks at those up to one.';

comment on column logloom.archive_parts.write_seq is
  'Its records have this write sequence or a lesser one; restored ones get it.';

comment on column logloom.archive_parts.newer_key is
  'A later generation that the bucket has, and the database does not know of since it was brought '
  'back to an earlier state: it takes the part''s place.';

comment on column logloom.archive_parts.generation is
  'How often it was written: an erasure writes it anew, under another key.';

-- archive/tables/archive_passes.sql
create table logloom_private.archive_passes (
  tenant_id text primary key,
  first_day date not null,
  last_day date not null,
  write_seq bigint not null,
  position_ts timestamptz,
  position_id uuid,
  began_at timestamptz not null default clock_timestamp(),
  next_attempt_at timestamptz not null default clock_timestamp(),
  failures integer not null default 0,
  error text,
  constraint archive_passes_days_are_in_order check (first_day <= last_day)
);

create index archive_passes_next_attempt_at_idx
on logloom_private.archive_passes (next_attempt_at);

comment on table logloom_private.archive_passes is
  'Days of a tenant that are being archived, one pass of a tenant at a time: their records up to '
  'write_seq that archived_days does not have yet, in the order of ts and id.';

comment on column logloom_private.archive_passes.position_ts is
  'Up to this record (position_ts, position_id) files were written and verified.';

-- archive/tables/archive_restores.sql
create table logloom.archive_restores (
  restore_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp(),
  first_day date not null,
  last_day date not null,
  ts_from timestamptz not null,
  ts_to timestamptz not null,
  query_dsl text not null,
  kept_until timestamptz not null,
  status text not null default 'queued',
  parts integer not null,
  parts_done integer not null default 0,
  records bigint not null default 0,
  bytes bigint not null default 0,
  position_number bigint not null default 0,
  failures integer not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  error text,
  constraint archive_restores_status_is_known check (
    status in ('queued', 'running', 'done', 'failed')
  )
);

create index archive_restores_tenant_id_requested_at_idx
on logloom.archive_restores (tenant_id, requested_at desc, restore_id desc);

create index archive_restores_open_idx on logloom.archive_restores (next_attempt_at)
where status in ('queued', 'running');

create policy archive_restores_select_tenant on logloom.archive_restores
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.archive_restores to authenticated, service_role;

comment on table logloom.archive_restores is
  'Days that were brought back from the archive. Kept for settings.audit_lifetime.';

-- archive/tables/archived_days.sql
create table logloom_private.archived_days (
  tenant_id text not null,
  day date not null,
  write_seq bigint not null,
  primary key (tenant_id, day)
);

comment on table logloom_private.archived_days is
  'Which records are in the archive: of a tenant''s day those up to write_seq. A record is '
  'archived by what it is, never by where it is stored, so sealing, merging and unsealing change '
  'nothing.';

-- archive/archive_claims.sql
-- The bucket's work that is due, as a claim: a check of its set-up, a file or a note to take up,
-- objects to delete, or the next keys to compare. Null: none.
create function logloom_private.claim_bucket_work(
  p_settings logloom_private.settings,
  p_expires_at timestamptz
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bucket logloom_private.archive_bucket;
  v_keys text[];
  v_part logloom.archive_parts;
  v_note text;
  v_work jsonb;
begin
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if (v_bucket.bucket, v_bucket.prefix)
    is distinct from (p_settings.archive_bucket, p_settings.archive_prefix)
    or v_bucket.checked_at is null
    or v_bucket.checked_at < now() - (
      case when v_bucket.problem is null then interval '1 day' else interval '1 minute' end
    )
  then
    v_work := jsonb_build_object('kind', 'check', 'installation_id', v_bucket.installation_id);
  elsif v_bucket.problem is not null then
    return null;
  else
    v_keys := logloom_private.due_garbage();
    select p.* into v_part
    from logloom.archive_parts p
    where p.newer_key is not null
    order by p.part_id
    limit 1;
    select n.object_key into v_note
    from logloom_private.archive_notes n
    where not n.is_read
    order by n.object_key
    limit 1;
    if v_part.part_id is not null then
      v_work := logloom_private.archive_part_work(v_part)
        || jsonb_build_object('kind', 'adopt', 'key', v_part.newer_key);
    elsif v_note is not null then
      v_work := jsonb_build_object('kind', 'recall', 'key', v_note);
    elsif v_keys <> '{}' then
      v_work := jsonb_build_object('kind', 'delete', 'keys', v_keys);
    elsif v_bucket.compared_through is not null or v_bucket.compared_at is null
      or v_bucket.compared_at < now() - p_settings.archive_compare_every
    then
      v_work := jsonb_build_object('kind', 'compare', 'after', v_bucket.compared_through);
    else
      return null;
    end if;
  end if;
  insert into logloom_private.archive_claims (tenant_id, kind, part_id, object_key, expires_at)
  values (
    '', v_work ->> 'kind', (v_work ->> 'part_id')::uuid, v_work ->> 'key', p_expires_at
  )
  on conflict do nothing
  returning v_work || jsonb_build_object('claim_id', claim_id) into v_work;
  return v_work;
end;
$$;

-- The next file that an erasure has to look at, as a claim, or its note: before the first file, and
-- after the last if it emptied some. Null: none.
create function logloom_private.claim_erasure(p_expires_at timestamptz)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_erasure logloom_private.archive_erasures;
  v_part logloom.archive_parts;
  v_note record;
  v_claim_id uuid;
begin
  for v_erasure in
    select e.*
    from logloom_private.archive_erasures e
    where e.finished_at is null and (e.parts_through is not null or e.noted_at is null)
      and e.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = e.tenant_id
      )
      and not exists (
        select from logloom.archive_parts p
        where p.tenant_id = e.tenant_id and p.newer_key is not null
      )
    order by e.next_attempt_at
    limit 10
  loop
    if v_erasure.parts_through is not null
      and logloom_private.end_archive_erasure(v_erasure.run_id)
    then
      continue;
    end if;
    select p.* into v_part
    from logloom.archive_parts p
    where p.tenant_id = v_erasure.tenant_id and p.status <> 'draft'
      and p.number > v_erasure.position_number and p.number <= v_erasure.parts_through
      and p.last_ts >= v_erasure.ts_from and p.first_ts < v_erasure.ts_to
    order by p.number
    limit 1;
    if v_erasure.noted_at is null
      and (v_erasure.position_number = 0 or v_part.part_id is null)
    then
      v_note := logloom_private.erasure_note(v_erasure);
      insert into logloom_private.archive_claims (
        tenant_id, kind, run_id, object_key, expires_at
      )
      values (v_erasure.tenant_id, 'note', v_erasure.run_id, v_note.key, p_expires_at)
      returning claim_id into v_claim_id;
      return jsonb_build_object(
        'kind', 'note', 'claim_id', v_claim_id, 'key', v_note.key, 'note', v_note.note
      );
    elsif v_part.part_id is null then
      -- It waits for objects that are to be deleted, and lets others have their turn.
      update logloom_private.archive_erasures e
      set next_attempt_at = clock_timestamp() + interval '5 seconds'
      where e.run_id = v_erasure.run_id;
      continue;
    end if;
    insert into logloom_private.archive_claims (
      tenant_id, kind, part_id, run_id, object_key, expires_at
    )
    values (
      v_erasure.tenant_id, 'erase', v_part.part_id, v_erasure.run_id,
      logloom_private.archive_key(
        jsonb_populate_record(
          v_part, jsonb_build_object('generation', v_part.generation + 1)
        )
      ),
      p_expires_at
    )
    returning claim_id into v_claim_id;
    return logloom_private.archive_part_work(v_part) || jsonb_build_object(
      'kind', 'erase', 'claim_id', v_claim_id,
      'new_key', (
        select c.object_key from logloom_private.archive_claims c where c.claim_id = v_claim_id
      )
    );
  end loop;
  return null;
end;
$$;

-- The next file that is to be brought back, as a claim. Null: none.
create function logloom_private.claim_restore(p_expires_at timestamptz)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_restore logloom.archive_restores;
  v_part logloom.archive_parts;
  v_claim_id uuid;
begin
  for v_restore in
    select r.*
    from logloom.archive_restores r
    where r.status in ('queued', 'running') and r.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = r.tenant_id
      )
      and not exists (
        select from logloom_private.archive_erasures e
        where e.tenant_id = r.tenant_id and e.finished_at is null
      )
      and not exists (
        select from logloom.archive_parts p
        where p.tenant_id = r.tenant_id and p.newer_key is not null
      )
    order by r.next_attempt_at
    limit 10
  loop
    select p.* into v_part
    from logloom.archive_parts p
    where p.tenant_id = v_restore.tenant_id and p.status <> 'draft'
      and p.number > v_restore.position_number
      and p.last_ts >= v_restore.ts_from and p.first_ts < v_restore.ts_to
    order by p.number
    limit 1;
    if not found then
      perform logloom_private.end_restore(v_restore.restore_id, null);
      continue;
    elsif v_part.status = 'missing' then
      perform logloom_private.end_restore(
        v_restore.restore_id, format('The bucket has the file %s no more', v_part.object_key)
      );
      continue;
    end if;
    insert into logloom_private.archive_claims (tenant_id, kind, part_id, run_id, expires_at)
    values (
      v_restore.tenant_id, 'restore', v_part.part_id, v_restore.restore_id, p_expires_at
    )
    returning claim_id into v_claim_id;
    return logloom_private.archive_part_work(v_part)
      || jsonb_build_object('kind', 'restore', 'claim_id', v_claim_id);
  end loop;
  return null;
end;
$$;

-- The next file to be written, as a claim, with its records as columns. Null: none.
create function logloom_private.claim_write(p_expires_at timestamptz)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pass logloom_private.archive_passes;
  v_records logloom.logs[];
  v_part logloom.archive_parts;
  v_claim logloom_private.archive_claims;
begin
  loop
    select p.* into v_pass
    from logloom_private.archive_passes p
    where p.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = p.tenant_id
      )
      and not exists (
        select from logloom_private.archive_erasures e
        where e.tenant_id = p.tenant_id and e.finished_at is null
      )
    order by p.next_attempt_at
    limit 1
    for update skip locked;
    if not found then
      return null;
    end if;
    v_records := logloom_private.archive_records(v_pass);
    exit when v_records is not null;
    perform logloom_private.end_archive_pass(v_pass);
  end loop;
  v_part.part_id := gen_random_uuid();
  v_part.tenant_id := v_pass.tenant_id;
  v_part.first_day := v_pass.first_day;
  v_part.last_day := v_pass.last_day;
  v_part.generation := 1;
  insert into logloom.archive_parts (
    part_id, tenant_id, first_day, last_day, write_seq, object_key, status
  )
  values (
    v_part.part_id, v_pass.tenant_id, v_pass.first_day, v_pass.last_day, v_pass.write_seq,
    logloom_private.archive_key(v_part), 'draft'
  )
  returning * into v_part;
  insert into logloom_private.archive_claims (
    tenant_id, kind, part_id, object_key, records, first_ts, last_ts, last_id, expires_at
  )
  select
    v_pass.tenant_id, 'write', v_part.part_id, v_part.object_key, count(*), min(r.ts), max(r.ts),
    (array_agg(r.id order by r.ts desc, r.id desc))[1], p_expires_at
  from unnest(v_records) r
  returning * into v_claim;
  return json_build_object(
    'kind', 'write', 'claim_id', v_claim.claim_id, 'tenant_id', v_part.tenant_id,
    'part_id', v_part.part_id, 'key', v_part.object_key, 'records', v_claim.records,
    'first_day', v_part.first_day, 'last_day', v_part.last_day, 'generation', v_part.generation,
    'columns', logloom_private.archive_columns(v_records)
  );
end;
$$;

-- archive/archive_columns.sql
-- How a key of attrs is stored in files: as a column of its own where it is among the 24 that most
-- records have, of the type that all of its values are without loss: string, integer, number or
-- boolean, else json, whose values are JSON texts.
create function logloom_private.archive_key_kind(
  p_strings bigint,
  p_integers bigint,
  p_numbers bigint,
  p_booleans bigint,
  p_values bigint
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_values
    when p_strings then 'string'
    when p_integers then 'integer'
    when p_numbers then 'number'
    when p_booleans then 'boolean'
    else 'json'
  end;
end;
$$;

-- The keys of attrs of records that get a column.
create function logloom_private.archive_keys(p_records logloom.logs[])
returns table (key text, kind text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
  return query
  select k.key, k.kind
  from (
    select distinct on (lower(u.key)) u.key, u.kind, u.values
    from (
      select
        a.key,
        count(*) as values,
        logloom_private.archive_key_kind(
          count(*) filter (where a.type = 'string'),
          -- Whole numbers that every reader has exactly.
          count(*) filter (where a.type = 'number' and a.text ~ '^(0|-?[1-9][0-9]{0,14})$'),
          -- Those that a number of 8 bytes has in the same digits.
          count(*) filter (
            where a.type = 'number'
              and a.text ~ '^(0|-?[1-9][0-9]{0,8})$|^-?(0|[1-9][0-9]{0,8})\.[0-9]{0,5}[1-9]$'
          ),
          count(*) filter (where a.type = 'boolean'),
          count(*)
        ) as kind
      from (
        select e.key, e.value::text as text, jsonb_typeof(e.value) as type
        from unnest(p_records) r, jsonb_each(r.attrs) e
      ) a
      -- A longer name is no name of a column.
      where octet_length(a.key) between 1 and 200
      group by a.key
    ) u
    -- Readers do not tell letters of another case apart.
    order by lower(u.key), u.values desc, u.key collate "C"
  ) k
  order by k.values desc, k.key collate "C"
  limit 24;
end;
$$;

-- Records as columns, in JSON: fields as answers show them, ts and received_at in microseconds
-- since 1970, attrs as an array for each of its keys with a column and the rest as texts.
create function logloom_private.archive_columns(p_records logloom.logs[])
returns json
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_keys text[] := '{}';
  v_columns text[] := '{}';
  v_key record;
  v_result json;
begin
  for v_key in select k.* from logloom_private.archive_keys(p_records) k loop
    v_keys := v_keys || v_key.key;
    v_columns := v_columns || format(
      'json_build_object(''key'', %1$L, ''kind'', %2$L, ''values'', json_agg(%3$s))',
      v_key.key, v_key.kind,
      case v_key.kind
        when 'string' then format('r.attrs ->> %L', v_key.key)
        when 'json' then format('(r.attrs -> %L)::text', v_key.key)
        else format('r.attrs -> %L', v_key.key)
      end
    );
  end loop;
  execute format(
    'select json_build_object(%s, ''attrs'', json_build_array(%s), ''rest'', '
      || 'json_agg((r.attrs - %L::text[])::text)) from unnest($1) r',
    (
      select string_agg(
        format(
          '%1$L, json_agg(%2$s)', f.name,
          case f.type
            when 'timestamptz' then format('(extract(epoch from r.%I) * 1000000)::bigint', f.name)
            else format('r.%I', f.name)
          end
        ),
        ', ' order by f.shown
      )
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null and f.name not in ('tenant_id', 'attrs')
    ),
    array_to_string(v_columns, ', '), v_keys
  )
  into v_result
  using p_records;
  return v_result;
end;
$$;

-- archive/archive_health.sql
-- How the archive does: how far it lags behind, what it holds, and what it waits for. Null where no
-- plan has one and nothing is archived.
create function logloom_private.archive_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_bucket logloom_private.archive_bucket;
  v_idle constant text := logloom_private.archive_is_idle();
  v_is_wanted constant boolean :=
    exists (select from logloom.plans p where p.archive_days > 0);
  v_files record;
  v_passes record;
  v_erasures record;
  v_garbage record;
  v_foreign_notes bigint;
begin
  select s.* into v_settings from logloom_private.settings s;
  select b.* into v_bucket from logloom_private.archive_bucket b;
  select
    count(*) filter (where p.status = 'verified') as files,
    count(*) filter (where p.status = 'missing') as missing,
    coalesce(sum(p.records) filter (where p.status = 'verified'), 0) as records,
    coalesce(sum(p.bytes) filter (where p.status = 'verified'), 0) as bytes
  into v_files
  from logloom.archive_parts p;
  select
    count(*) as open, count(*) filter (where p.failures > 2) as failing, min(p.began_at) as oldest
  into v_passes
  from logloom_private.archive_passes p;
  select count(*) as open, min(e.began_at) as oldest
  into v_erasures
  from logloom_private.archive_erasures e
  where e.finished_at is null and e.parts_through is not null;
  select
    count(*) filter (where g.reason <> 'later') as objects,
    count(*) filter (where g.reason = 'later') as later,
    -- Noted long ago, and put off since: it was tried.
    count(*) filter (
      where g.reason <> 'later' and g.noted_at < p_now - interval '1 hour'
        and g.next_attempt_at > g.noted_at + interval '1 hour'
    ) as kept
  into v_garbage
  from logloom_private.archive_garbage g;
  select count(*) into v_foreign_notes from logloom_private.archive_notes n where not n.is_ours;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_is_wanted or v_files.files > 0 then v_idle end,
      case when v_idle is null and v_bucket.problem is not null then
        'The bucket cannot be used: logloom_private.archive_bucket says why'
      end,
      case when v_passes.failing > 0 then
        format(
          '%s tenants are not archived: logloom_private.archive_passes says why', v_passes.failing
        )
      end,
      case when v_passes.oldest < p_now - v_settings.archive_grace then
        format(
          'Days wait for the archive for over %s, and are then %s by retention',
          v_settings.archive_grace,
          case v_settings.archive_overtaken when 'drop' then 'dropped' else 'kept' end
        )
      end,
      case when v_erasures.oldest < p_now - interval '1 hour' then
        format('%s erasures have not reached the archive yet', v_erasures.open)
      end,
      case when v_files.missing > 0 then
        format('The bucket lacks %s files: logloom.archive_parts has them', v_files.missing)
      end,
      case when v_garbage.later > 0 then
        format(
          'The bucket has %s files from after the state that the database was brought back to: '
            'logloom_private.archive_garbage has them',
          v_garbage.later
        )
      end,
      case when v_idle is null and v_bucket.problem is null and v_garbage.kept > 0 then
        format(
          'The bucket does not delete %s objects: logloom_private.archive_garbage has them',
          v_garbage.kept
        )
      end,
      case when v_foreign_notes > 0 then
        format(
          'The bucket has %s notes of erasures that Logloom did not write: '
            'logloom_private.archive_notes has them',
          v_foreign_notes
        )
      end
    )
  ) || jsonb_build_object(
    'files', v_files.files, 'records', v_files.records, 'bytes', v_files.bytes,
    'passes', v_passes.open, 'oldest_pass', v_passes.oldest, 'erasures', v_erasures.open,
    'garbage', v_garbage.objects, 'later', v_garbage.later
  );
end;
$$;

-- archive/archive_key.sql
-- A tenant's id as a part of an object's key. Every store takes these letters, but not a % or a ~
-- (Supabase Storage refuses both): the bytes of any other are written in hex after a !. An id that
-- gets too long so is a digest after two.
create function logloom_private.archive_tenant_name(p_tenant_id text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := (
    select string_agg(
      case
        when c.letter ~ '^[A-Za-z0-9_@-]$' or c.letter = '.' and c.n > 1 then c.letter
        else upper(regexp_replace(encode(convert_to(c.letter, 'UTF8'), 'hex'), '(..)', '!\1', 'g'))
      end,
      '' order by c.n
    )
    from regexp_split_to_table(p_tenant_id, '') with ordinality c (letter, n)
  );
begin
  if length(v_name) > 500 then
    return '!!' || encode(sha256(convert_to(p_tenant_id, 'UTF8')), 'hex');
  end if;
  return v_name;
end;
$$;

-- Where the file of a part is, in the bucket: one partition key, the month, for all, since readers
-- refuse files whose keys differ. A file never holds days of two months.
create function logloom_private.archive_key(p_part logloom.archive_parts)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    '%s/v1/tenant=%s/month=%s/%s_%s_%s_%s.parquet',
    (select s.archive_prefix from logloom_private.settings s),
    logloom_private.archive_tenant_name(p_part.tenant_id), to_char(p_part.first_day, 'YYYY-MM'),
    to_char(p_part.first_day, 'YYYY-MM-DD'), to_char(p_part.last_day, 'YYYY-MM-DD'),
    p_part.part_id, p_part.generation
  );
end;
$$;

-- archive/archive_notes.sql
-- Erasures leave a note in the bucket, so that a database that is brought back to an earlier state
-- repeats them.

-- Whether the bucket has notes of a tenant's erasures: those of tenants that have an archive.
create function logloom_private.bucket_notes_erasures(p_tenant_id text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select s.archive_bucket is not null from logloom_private.settings s)
    and logloom_private.archive_reads_records()
    and (
      exists (select from logloom.archive_parts p where p.tenant_id = p_tenant_id)
      or exists (
        select
        from logloom.tenants t
        join logloom.plans l on l.plan_id = t.plan_id
        where t.tenant_id = p_tenant_id and l.archive_days > 0
      )
    );
end;
$$;

-- What proves that a note is of this installation: HMAC-SHA-256 of its JSON without that.
create function logloom_private.note_signature(p_note jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select encode(
      extensions.hmac(convert_to((p_note - 'signature')::text, 'UTF8'), b.note_key, 'sha256'), 'hex'
    )
    from logloom_private.archive_bucket b
  );
end;
$$;

-- The note of an erasure, and where it is in the bucket.
create function logloom_private.erasure_note(
  p_erasure logloom_private.archive_erasures,
  out key text,
  out note jsonb
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  key := format(
    '%s/erasures/%s.json',
    (select s.archive_prefix from logloom_private.settings s), p_erasure.run_id
  );
  note := jsonb_build_object(
    'run_id', p_erasure.run_id, 'tenant_id', p_erasure.tenant_id,
    'query_dsl', p_erasure.query_dsl, 'requested_at', p_erasure.requested_at,
    'ts_from', p_erasure.ts_from, 'ts_to', p_erasure.ts_to,
    'emptied', to_jsonb(p_erasure.emptied),
    'deletes_tenant', logloom_private.is_being_deleted(p_erasure.tenant_id)
  );
  note := note || jsonb_build_object('signature', logloom_private.note_signature(note));
end;
$$;

-- The bucket has the note of an erasure. One of a tenant that is being deleted takes the place of
-- those before it.
create function logloom_private.settle_note(p_claim logloom_private.archive_claims)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_erasure logloom_private.archive_erasures;
begin
  update logloom_private.archive_erasures e
  set noted_at = clock_timestamp(), failures = 0, error = null,
    next_attempt_at = clock_timestamp()
  where e.run_id = p_claim.run_id
  returning * into v_erasure;
  insert into logloom_private.archive_notes as n (object_key, erased_tenant)
  values (p_claim.object_key, p_claim.tenant_id)
  on conflict (object_key) do update
  set erased_tenant = excluded.erased_tenant, is_read = true;
  if logloom_private.is_being_deleted(p_claim.tenant_id) then
    with earlier as (
      delete from logloom_private.archive_notes n
      where n.erased_tenant = p_claim.tenant_id and n.object_key <> p_claim.object_key
      returning n.object_key
    )
    insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
    select p_claim.tenant_id, e.object_key, 'erased' from earlier e
    on conflict (object_key) do nothing;
  end if;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
  if v_erasure.parts_through is not null then
    perform logloom_private.end_archive_erasure(p_claim.run_id);
  end if;
end;
$$;

-- Of a page of the bucket's keys, takes up the notes that are not known: they are to be read. Those
-- past audit_lifetime are garbage, as no older state is brought back.
create function logloom_private.compare_notes(p_keys jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_notes jsonb;
  v_lifetime integer;
begin
  select
    jsonb_agg(k.key_of_bucket), extract(epoch from min(s.audit_lifetime))
  into v_notes, v_lifetime
  from logloom_private.settings s
  cross join lateral jsonb_array_elements(p_keys) k (key_of_bucket)
  where k.key_of_bucket ->> 'key' like format('%s/erasures/%%.json', s.archive_prefix);
  insert into logloom_private.archive_notes (object_key, is_read)
  select k.key, false
  from jsonb_to_recordset(v_notes) k (key text, age integer)
  where k.age <= v_lifetime
  on conflict (object_key) do nothing;
  with old as (
    select k.key, n.erased_tenant
    from jsonb_to_recordset(v_notes) k (key text, age integer)
    left join logloom_private.archive_notes n on n.object_key = k.key
    where k.age > v_lifetime
  ), gone as (
    delete from logloom_private.archive_notes n where n.object_key in (select o.key from old o)
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select coalesce(o.erased_tenant, ''), o.key, 'expired' from old o
  on conflict (object_key) do nothing;
end;
$$;

-- A note was read that the database does not know: retention is to repeat its erasure, and what
-- that emptied is not missing. Of one that is not signed, or is for another erasure than its key
-- says, nothing comes but a word in health.
create function logloom_private.settle_recall(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_note constant jsonb := p_details -> 'note';
begin
  if p_details ->> 'missing' = 'true' then
    delete from logloom_private.archive_notes n where n.object_key = p_claim.object_key;
    return;
  elsif jsonb_typeof(v_note) is distinct from 'object'
    or v_note ->> 'signature' is distinct from logloom_private.note_signature(v_note)
    or p_claim.object_key not like '%/' || (v_note ->> 'run_id') || '.json'
  then
    update logloom_private.archive_notes n
    set is_read = true, is_ours = false
    where n.object_key = p_claim.object_key;
    return;
  end if;
  update logloom_private.archive_notes n
  set erased_tenant = v_note ->> 'tenant_id', is_read = true, to_repeat = v_note
  where n.object_key = p_claim.object_key and not n.is_read;
  delete from logloom.archive_parts p
  where p.tenant_id = v_note ->> 'tenant_id'
    and p.part_id in (select e::uuid from jsonb_array_elements_text(v_note -> 'emptied') e)
    and not exists (
      select from logloom_private.archive_claims c where c.part_id = p.part_id
    );
end;
$$;

-- archive/archive_part_work.sql
-- What the function logloom-archive is told of a file that it reads.
create function logloom_private.archive_part_work(p_part logloom.archive_parts)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'tenant_id', p_part.tenant_id, 'part_id', p_part.part_id, 'key', p_part.object_key,
    'records', p_part.records, 'bytes', p_part.bytes, 'sha256', p_part.sha256,
    'first_day', p_part.first_day, 'last_day', p_part.last_day,
    'generation', p_part.generation + 1
  );
end;
$$;

-- archive/archive_places.sql
-- SQL, of an alias for logloom.logs: that a record belongs to what is left of a pass. Each day has
-- its own write sequence up to which it is archived.
create function logloom_private.archive_filter_sql(
  p_pass logloom_private.archive_passes,
  p_alias text
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz :=
    coalesce(p_pass.position_ts, logloom_private.day_start(p_pass.first_day));
  v_done constant bigint[] := array(
    select coalesce(a.write_seq, -1)
    from generate_series(0, p_pass.last_day - p_pass.first_day) d (n)
    left join logloom_private.archived_days a
      on a.tenant_id = p_pass.tenant_id and a.day = p_pass.first_day + d.n
    order by d.n
  );
begin
  return format(
    '%1$s.ts >= %2$L::timestamptz and %1$s.ts < %3$L::timestamptz and %1$s.write_seq <= %4$s '
      || 'and %1$s.write_seq > '
      || '(%5$L::bigint[])[(%1$s.ts at time zone ''UTC'')::date - %6$L::date + 1]',
    p_alias, v_from, logloom_private.day_start(p_pass.last_day + 1), p_pass.write_seq, v_done,
    p_pass.first_day
  ) || case when p_pass.position_ts is null then ''
    else format(
      ' and (%1$s.ts, %1$s.id) > (%2$L::timestamptz, %3$L::uuid)',
      p_alias, p_pass.position_ts, p_pass.position_id
    )
  end;
end;
$$;

-- The places of the next records of a pass, by ts and id: as many as fit into a file, one at least.
-- blocks: the block that each is in, null for rows; places: where in it.
create function logloom_private.archive_places(
  p_pass logloom_private.archive_passes,
  out ts timestamptz[],
  out ids uuid[],
  out blocks bigint[],
  out places integer[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_settings logloom_private.settings;
  v_filter constant text := logloom_private.archive_filter_sql(p_pass, 'r');
  v_end timestamptz := 'infinity';
  v_block logloom_private.blocks;
  v_ts timestamptz[];
  v_ids uuid[];
  v_places integer[];
  v_records integer;
  v_row_sizes bigint[];
  v_sizes bigint[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  ts := '{}';
  ids := '{}';
  blocks := '{}';
  places := '{}';
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_pass.tenant_id
      and c.last_ts >= coalesce(p_pass.position_ts, logloom_private.day_start(p_pass.first_day))
      and c.first_ts < logloom_private.day_start(p_pass.last_day + 1)
    order by c.first_ts, c.block_id
  loop
    -- Mostly a file is a block. Those that overlap in time are read together.
    if (select count(*) from unnest(ts) t where t < v_block.first_ts)
      >= v_settings.seal_block_records / 2
    then
      v_end := v_block.first_ts;
      exit;
    end if;
    perform logloom_private.can_read(v_block.format);
    execute format(
      'select array_agg(r.ts) as ts, array_agg(r.id) as ids, array_agg(r.place) as places, '
        || 'count(*)::integer as records from ('
        || 'select s.ts, s.id, s.write_seq, row_number() over ()::integer as place from '
        || 'logloom_private.sealed_records($1, null, array[''ts'', ''id'', ''write_seq'']) s'
        || ') r where %s',
      v_filter
    )
    into v_ts, v_ids, v_places, v_records
    using v_block;
    continue when v_records = 0;
    ts := ts || v_ts;
    ids := ids || v_ids;
    places := places || v_places;
    blocks := blocks || array_fill(v_block.block_id, array[v_records]);
    v_sizes := v_sizes || array_fill(v_block.weight / v_block.records, array[v_records]);
  end loop;
  execute format(
    $query$
      select array_agg(l.ts) as ts, array_agg(l.id) as ids, array_agg(l.size) as sizes
      from (
        select r.ts, r.id, b.bytes + 7 * greatest(b.bytes - 2000, 0) as size
        from logloom.logs r
        cross join lateral (
          select coalesce(r.record_bytes, octet_length(to_json(r)::text))::bigint as bytes
        ) b
        where r.tenant_id = %L and %s
        order by r.ts, r.id
        limit %s
      ) l
    $query$,
    p_pass.tenant_id, v_filter, v_settings.seal_block_records
  )
  into v_ts, v_ids, v_row_sizes;
  select array_agg(k.ts), array_agg(k.id), array_agg(k.block), array_agg(k.place)
  into ts, ids, blocks, places
  from (
    select
      u.*, row_number() over w as n, sum(u.size) over w as size_through
    from (
      select b.ts, b.id, b.block, b.place, b.size
      from unnest(ts, ids, blocks, places, v_sizes) b (ts, id, block, place, size)
      union all
      select l.ts, l.id, null, null, l.size
      from unnest(v_ts, v_ids, v_row_sizes) l (ts, id, size)
    ) u
    where u.ts < v_end
    window w as (order by u.ts, u.id)
  ) k
  where k.n = 1
    or k.n <= v_settings.seal_block_records and k.size_through <= v_settings.seal_block_bytes;
end;
$$;

-- archive/archive_reads_records.sql
-- Seam: whether the archive reads the records of this database.
create function logloom_private.archive_reads_records()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return true;
end;
$$;

-- archive/archive_records.sql
-- The next records of a pass that go into a file; null where there are none.
create function logloom_private.archive_records(p_pass logloom_private.archive_passes)
returns logloom.logs[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_found constant record := logloom_private.archive_places(p_pass);
  v_last constant integer := cardinality(v_found.ts);
  v_sql text;
  v_records logloom.logs[];
begin
  if v_last is null then
    return null;
  end if;
  select string_agg(p.sql, ' union all ' order by p.block) into v_sql
  from (
    select
      f.block,
      case
        when f.block is null then format(
          'select r.* from logloom.logs r where r.tenant_id = %L and %s '
            || 'and (r.ts, r.id) <= (%L::timestamptz, %L::uuid)',
          p_pass.tenant_id, logloom_private.archive_filter_sql(p_pass, 'r'),
          v_found.ts[v_last], v_found.ids[v_last]
        )
        else format(
          'select r.* from logloom_private.block_records(%L, %s, %L::integer[], null) r',
          p_pass.tenant_id, f.block, array_agg(f.place order by f.place)
        )
      end as sql
    from unnest(v_found.blocks, v_found.places) f (block, place)
    group by f.block
  ) p;
  execute format('select array_agg(s) from (%s) s', v_sql) into v_records;
  if cardinality(v_records) <> v_last then
    raise sqlstate 'LL001' using message = 'Records to archive are not those that were found';
  end if;
  return v_records;
end;
$$;

-- archive/archive_span.sql
-- The days that a small tenant's day is archived with, in one file: those of its month or, where
-- the tenant's retention would have ended too long before that, of its week in the month, or the
-- day alone. Within a month, since files lie by month.
create function logloom_private.archive_span(
  p_day date,
  p_retention_days integer,
  out first_day date,
  out last_day date
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_month constant date := date_trunc('month', p_day::timestamp);
  v_month_end constant date := v_month + interval '1 month' - interval '1 day';
  v_week constant integer := least((p_day - v_month) / 7, 3);
begin
  if p_retention_days >= 28 then
    first_day := v_month;
    last_day := v_month_end;
  elsif p_retention_days >= 7 then
    first_day := v_month + 7 * v_week;
    last_day := case when v_week = 3 then v_month_end else first_day + 6 end;
  else
    first_day := p_day;
    last_day := p_day;
  end if;
end;
$$;

-- archive/archive_step.sql
-- Begins passes of the next tenants that have records to archive, a round every
-- archive_plan_every. Whether tenants are left.
create function logloom_private.plan_archive(p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bucket logloom_private.archive_bucket;
  v_tenants text[];
begin
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if v_bucket.planned_through is null and v_bucket.planned_at > p_now - (
    select s.archive_plan_every from logloom_private.settings s
  ) then
    return false;
  end if;
  v_tenants := array(
    select t
    from logloom_private.tenants_to_archive() t
    where t > coalesce(v_bucket.planned_through, '')
    order by t
    limit 100
  );
  perform logloom_private.plan_archive_pass(t.tenant_id, p_now)
  from unnest(v_tenants) t (tenant_id);
  update logloom_private.archive_bucket b
  set planned_through = v_tenants[100],
    planned_at = case when v_tenants[100] is null then p_now else b.planned_at end
  where b.singleton;
  return v_tenants[100] is not null;
end;
$$;

-- Files past what their tenant's plan keeps become garbage, so many at a time. What was archived
-- under a plan that has no archive any more stays.
create function logloom_private.expire_archive(p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with gone as (
    delete from logloom.archive_parts p
    where p.part_id = any (array(
      select x.part_id
      from logloom.archive_parts x
      join logloom.tenants t on t.tenant_id = x.tenant_id
      join logloom.plans l on l.plan_id = t.plan_id
      where l.archive_days > 0 and x.status <> 'draft'
        and x.last_day < logloom_private.utc_day(p_now) - l.archive_days
        and not exists (
          select from logloom_private.archive_claims c where c.part_id = x.part_id
        )
      limit 1000
    ))
    returning p.tenant_id, p.object_key
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select g.tenant_id, g.object_key, 'expired' from gone g
  on conflict (object_key) do nothing;
  -- Long past every claim that they are asked about.
  delete from logloom_private.archive_erasures e where e.finished_at < p_now - interval '1 day';
  delete from logloom_private.kept_longer k where k.kept_until < p_now;
end;
$$;

-- Whether there is work for the function logloom-archive.
create function logloom_private.archive_has_work()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_bucket logloom_private.archive_bucket;
begin
  select s.* into v_settings from logloom_private.settings s;
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if (v_bucket.bucket, v_bucket.prefix)
    is distinct from (v_settings.archive_bucket, v_settings.archive_prefix)
    or v_bucket.problem is not null or v_bucket.checked_at is null
  then
    return v_bucket.checked_at is null or v_bucket.problem is null
      or v_bucket.checked_at < now() - interval '1 minute';
  end if;
  return v_bucket.checked_at < now() - interval '1 day'
    or v_bucket.compared_at is null or v_bucket.compared_through is not null
    or v_bucket.compared_at < now() - v_settings.archive_compare_every
    or exists (
      select from logloom_private.archive_garbage g where g.next_attempt_at <= clock_timestamp()
    )
    or exists (select from logloom.archive_parts p where p.newer_key is not null)
    or exists (select from logloom_private.archive_notes n where not n.is_read)
    or exists (
      select from logloom_private.archive_passes p where p.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom_private.archive_erasures e
      where e.finished_at is null and (e.parts_through is not null or e.noted_at is null)
        and e.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom.archive_restores r
      where r.status in ('queued', 'running') and r.next_attempt_at <= clock_timestamp()
    );
end;
$$;

-- A step of the job archive_logs: plans, lets files go that are past their time, and wakes the
-- function logloom-archive where it has work. A kill loses nothing.
create function logloom_private.archive_step()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if logloom_private.archive_is_idle() is not null then
    return null;
  elsif logloom_private.plan_archive(clock_timestamp()) then
    return interval '0';
  end if;
  perform logloom_private.expire_archive(clock_timestamp());
  if logloom_private.archive_has_work() then
    perform logloom_private.wake_archive();
  end if;
  return null;
end;
$$;

-- archive/awaits_archive.sql
-- Whether retention must leave a tenant's day alone for now: it is to be archived and is not yet,
-- or was brought back. A block goes with its last day, so all of its days count.
create function logloom_private.awaits_archive(p_tenant_id text, p_day date, p_today date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_first_day date;
begin
  if exists (
    select
    from logloom_private.kept_longer k
    where k.tenant_id = p_tenant_id and k.kept_until > now()
      and p_day between k.first_day and k.last_day
  ) then
    return true;
  elsif not exists (
    -- A tenant that is gone, or going, leaves no files.
    select
    from logloom.tenants t
    join logloom.plans p on p.plan_id = t.plan_id
    where t.tenant_id = p_tenant_id and p.archive_days > 0
  ) or logloom_private.is_being_deleted(p_tenant_id) then
    return false;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  if v_settings.archive_overtaken = 'drop'
    and logloom_private.day_start(
      p_day + logloom_private.retention_days(p_tenant_id) + 1
    ) + v_settings.archive_grace <= logloom_private.day_start(p_today)
  then
    return false;
  end if;
  v_first_day := least(
    p_day,
    (
      select logloom_private.utc_day(min(c.first_ts))
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= logloom_private.day_start(p_day)
        and c.last_ts < logloom_private.day_start(p_day + 1)
    )
  );
  return exists (
    select
    from generate_series(0, p_day - v_first_day) d (n)
    where not logloom_private.is_archived(p_tenant_id, p_day - d.n)
  );
end;
$$;

-- The tenants of which awaits_archive need be asked at all.
create function logloom_private.archiving_tenants()
returns setof text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.tenant_id
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  where p.archive_days > 0
  union
  select k.tenant_id from logloom_private.kept_longer k where k.kept_until > now();
end;
$$;

-- archive/claim_log_archive_work.sql
-- Gives back what a claim that ended without success had: an unfinished file is garbage. p_error:
-- why it failed, null where its time was over.
create function logloom_private.release_archive_claim(
  p_claim logloom_private.archive_claims,
  p_error text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant text := left(coalesce(p_error, 'The function did not answer in time'), 500);
begin
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
  case p_claim.kind
    when 'write' then
      delete from logloom.archive_parts p
      where p.part_id = p_claim.part_id and p.status = 'draft';
      perform logloom_private.discard_object(p_claim.tenant_id, p_claim.object_key, 'abandoned');
      update logloom_private.archive_passes p
      set failures = p.failures + 1, error = v_error,
        next_attempt_at = now() + logloom_private.archive_delay(p.failures)
      where p.tenant_id = p_claim.tenant_id;
    when 'erase', 'note' then
      -- The next attempt writes the same key.
      update logloom_private.archive_erasures e
      set failures = e.failures + 1, error = v_error,
        next_attempt_at = now() + logloom_private.archive_delay(e.failures)
      where e.run_id = p_claim.run_id;
    when 'restore' then
      update logloom.archive_restores r
      set failures = r.failures + 1, error = v_error,
        next_attempt_at = now() + logloom_private.archive_delay(r.failures)
      where r.restore_id = p_claim.run_id;
      if (
        select r.failures >= 10 from logloom.archive_restores r where r.restore_id = p_claim.run_id
      ) then
        perform logloom_private.end_restore(p_claim.run_id, v_error);
      end if;
    when 'adopt' then
      -- As if it were not there: the next comparison finds it again.
      update logloom.archive_parts p set newer_key = null where p.part_id = p_claim.part_id;
    when 'delete' then
      -- None of them went: the check tells whether that is the bucket's fault.
      perform logloom_private.put_off_garbage(logloom_private.due_garbage());
      update logloom_private.archive_bucket b set checked_at = null where b.singleton;
    else
      update logloom_private.archive_bucket b
      set checked_at = now(), problem = v_error
      where b.singleton and p_error is not null;
  end case;
end;
$$;

-- How long after so many failures in a row the next attempt is.
create function logloom_private.archive_delay(p_failures integer)
returns interval
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return least(interval '5 seconds' * 2 ^ least(p_failures, 10), interval '10 minutes');
end;
$$;

-- Notes an object that is to be deleted.
create function logloom_private.discard_object(
  p_tenant_id text,
  p_object_key text,
  p_reason text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  values (p_tenant_id, p_object_key, p_reason)
  on conflict (object_key) do nothing;
end;
$$;

-- Why no work at the archive is given out; null where it is.
create function logloom_private.archive_is_idle()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when (select s.archive_bucket from logloom_private.settings s) is null
      then 'settings.archive_bucket names no bucket'
    when logloom_private.is_restored()
      then 'The database was restored from a dump and not repaired'
    when not logloom_private.archive_reads_records()
      then 'Records are sharded over nodes, which the archive does not read'
  end;
end;
$$;

-- A piece of work for the function logloom-archive, as a claim. Null: nothing is due.
create function logloom_private.claim_archive_work()
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads records or changes the archive
declare
  v_settings logloom_private.settings;
  v_expires_at timestamptz;
  v_claim logloom_private.archive_claims;
  v_work json;
begin
  if logloom_private.archive_is_idle() is not null then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  v_expires_at := clock_timestamp() + v_settings.archive_claim_lifetime;
  -- One claim at a time is made; what it reads is long.
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'));
  for v_claim in
    select c.* from logloom_private.archive_claims c where c.expires_at < clock_timestamp()
  loop
    perform logloom_private.release_archive_claim(v_claim, null);
  end loop;
  v_work := logloom_private.claim_bucket_work(v_settings, v_expires_at);
  if v_work is null and (
    select b.problem is null and b.bucket = v_settings.archive_bucket
      and b.prefix = v_settings.archive_prefix
      -- After a restore of the database files may have been replaced.
      and b.compared_at is not null
    from logloom_private.archive_bucket b
  ) then
    v_work := coalesce(
      logloom_private.claim_restore(v_expires_at)::json,
      logloom_private.claim_erasure(v_expires_at)::json,
      logloom_private.claim_write(v_expires_at)
    );
  end if;
  if v_work is null then
    return null;
  end if;
  return json_build_object(
    'bucket', v_settings.archive_bucket, 'prefix', v_settings.archive_prefix, 'work', v_work
  );
end;
$$;

create function public.claim_log_archive_work()
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '60s'
as $$
begin
  return coalesce(
    logloom_private.claim_archive_work(), json_build_object('work', null)
  );
end;
$$;

comment on function public.claim_log_archive_work() is
  'What the edge function logloom-archive calls: the next piece of work, null where there is none. '
  'One that is not settled in time is given out again.';

-- archive/compare_archive.sql
-- Compares a page of the bucket's keys with what the database knows. An object that nobody knows is
-- garbage once it is a day old, unless it was there when the database was repaired; a verified file
-- that is not there is missing; of a file there may be a later generation, where the database was
-- brought back to before an erasure: that counts. Notes of erasures that it does not know are read.
-- keys: [{key, age, ...}] in their order; through: the last of them, null where none follows.
create function logloom_private.compare_archive(p_page jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_after text;
  v_restored_at timestamptz;
  v_through constant text := p_page ->> 'through';
begin
  select s.* into v_settings from logloom_private.settings s;
  select coalesce(b.compared_through, ''), b.restored_at into v_after, v_restored_at
  from logloom_private.archive_bucket b;
  update logloom.archive_parts p
  set newer_key = k.key
  from jsonb_to_recordset(p_page -> 'keys') k (key text)
  where p.part_id::text = substring(k.key from '_([0-9a-f-]{36})_[0-9]{1,9}\.parquet$')
    and substring(k.key from '_([0-9]{1,9})\.parquet$')::integer > p.generation
    and p.status <> 'draft'
    and not exists (
      select from logloom_private.archive_claims c where c.part_id = p.part_id
    );
  insert into logloom_private.archive_garbage (object_key, tenant_id, reason, next_attempt_at)
  select
    k.key, coalesce(p.tenant_id, ''), case when l.is_later then 'later' else 'unknown' end,
    case when l.is_later then 'infinity' else clock_timestamp() end
  from jsonb_to_recordset(p_page -> 'keys') k (key text, age integer)
  left join logloom.archive_parts p
    on p.part_id::text = substring(k.key from '_([0-9a-f-]{36})_[0-9]{1,9}\.parquet$')
  cross join lateral (
    select p.part_id is null and v_restored_at is not null
      and now() - make_interval(secs => k.age) <= v_restored_at as is_later
  ) l
  where (k.age > 86400 or l.is_later)
    and not exists (
      select from logloom.archive_parts x where k.key in (x.object_key, x.newer_key)
    )
    and k.key like format('%s/v1/tenant=%%', v_settings.archive_prefix)
  on conflict (object_key) do nothing;
  update logloom.archive_parts p
  set status = case when p.status = 'verified' then 'missing' else 'verified' end
  where p.verified_at < now() - interval '1 day'
    and p.object_key collate "C" > v_after collate "C"
    and (v_through is null or p.object_key collate "C" <= v_through collate "C")
    and (p.status = 'verified') <> (
      p.object_key in (
        select k.key from jsonb_to_recordset(p_page -> 'keys') k (key text)
      )
    )
    and p.status <> 'draft' and p.newer_key is null;
  perform logloom_private.compare_notes(p_page -> 'keys');
  update logloom_private.archive_bucket b
  set compared_through = v_through,
    compared_at = case when v_through is null then clock_timestamp() else b.compared_at end
  where b.singleton;
end;
$$;

-- A later generation of a part was read: it takes the place of the one that the database knows.
create function logloom_private.adopt_archived(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part logloom.archive_parts;
begin
  select p.* into v_part
  from logloom.archive_parts p
  where p.part_id = p_claim.part_id and p.newer_key = p_claim.object_key
  for update;
  if not found then
    return;
  elsif p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set newer_key = null where p.part_id = v_part.part_id;
    return;
  end if;
  update logloom.archive_parts p
  set status = 'verified', object_key = p.newer_key, newer_key = null,
    generation = substring(p.newer_key from '_([0-9]{1,9})\.parquet$')::integer,
    records = (p_details ->> 'records')::integer, bytes = (p_details ->> 'bytes')::bigint,
    sha256 = p_details ->> 'sha256', first_ts = (p_details ->> 'first_ts')::timestamptz,
    last_ts = (p_details ->> 'last_ts')::timestamptz, verified_at = clock_timestamp()
  where p.part_id = v_part.part_id;
  perform logloom_private.discard_object(v_part.tenant_id, v_part.object_key, 'erased');
end;
$$;

-- Has the bucket looked at anew: after a restore of the database it may have what that does not
-- know of, or lack what it does.
create function logloom_private.compare_archive_anew()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claim logloom_private.archive_claims;
begin
  for v_claim in select c.* from logloom_private.archive_claims c loop
    perform logloom_private.release_archive_claim(v_claim, null);
  end loop;
  update logloom_private.archive_bucket b
  set checked_at = null, planned_at = null, planned_through = null, compared_at = null,
    compared_through = null, restored_at = clock_timestamp()
  where b.singleton;
end;
$$;

-- Lets all files of the archive go, before uninstalling: garbage, which the function
-- logloom-archive deletes. How many there are to delete.
create function logloom_private.delete_archive()
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claim logloom_private.archive_claims;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'));
  -- Nothing more is archived.
  update logloom.plans p set archive_days = 0 where p.archive_days > 0;
  delete from logloom_private.archive_passes p where true;
  for v_claim in
    select c.* from logloom_private.archive_claims c where c.kind <> 'delete'
  loop
    perform logloom_private.release_archive_claim(v_claim, null);
  end loop;
  update logloom.archive_restores r
  set status = 'failed', error = 'The archive is deleted', finished_at = clock_timestamp()
  where r.status in ('queued', 'running');
  with gone as (
    delete from logloom.archive_parts p where true
    returning p.tenant_id, p.object_key
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select g.tenant_id, g.object_key, 'expired' from gone g
  on conflict (object_key) do nothing;
  with gone as (
    delete from logloom_private.archive_notes n where true
    returning n.erased_tenant, n.object_key
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select coalesce(g.erased_tenant, ''), g.object_key, 'expired' from gone g
  on conflict (object_key) do nothing;
  update logloom_private.archive_garbage g set next_attempt_at = clock_timestamp() where true;
  return (select count(*) from logloom_private.archive_garbage);
end;
$$;

-- archive/end_archive_pass.sql
-- Ends a pass, which has no records left: its days are archived. The tenant's next one begins.
create function logloom_private.end_archive_pass(p_pass logloom_private.archive_passes)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.archived_days as a (tenant_id, day, write_seq)
  select p_pass.tenant_id, p_pass.first_day + d.n, p_pass.write_seq
  from generate_series(0, p_pass.last_day - p_pass.first_day) d (n)
  on conflict (tenant_id, day) do update
  set write_seq = greatest(a.write_seq, excluded.write_seq);
  delete from logloom_private.archive_passes p where p.tenant_id = p_pass.tenant_id;
  if p_pass.tenant_id in (select a from logloom_private.tenants_to_archive() a) then
    perform logloom_private.plan_archive_pass(p_pass.tenant_id, now());
  end if;
end;
$$;

-- The tenants whose plan has an archive.
create function logloom_private.tenants_to_archive()
returns setof text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.tenant_id
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  where p.archive_days > 0
    and not exists (
      select
      from logloom_private.tenant_deletions d
      where d.tenant_id = t.tenant_id and d.finished_at is null
    );
end;
$$;

-- archive/erase_from_archive.sql
-- Erasures in the archive: retention begins one with each that it begins, and asks at its end.
-- Meanwhile nothing of the tenant is archived or brought back, and what was read before is not
-- kept.
create function logloom_private.begin_archive_erasure(
  p_run_id uuid,
  p_tenant_id text,
  p_query_dsl text,
  p_requested_at timestamptz,
  p_from timestamptz,
  p_to timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.archive_erasures (
    run_id, tenant_id, query_dsl, requested_at, ts_from, ts_to, noted_at
  )
  values (
    p_run_id, p_tenant_id, p_query_dsl, p_requested_at, p_from, p_to,
    case when not logloom_private.bucket_notes_erasures(p_tenant_id) then clock_timestamp() end
  )
  on conflict (run_id) do nothing;
end;
$$;

-- Lets an erasure go on in the files that there are, once the database has no match left. Whether
-- it is done there, too.
create function logloom_private.end_archive_erasure(p_run_id uuid)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_erasure logloom_private.archive_erasures;
begin
  update logloom_private.archive_erasures e
  set parts_through = coalesce(
    e.parts_through,
    (
      select max(p.number) from logloom.archive_parts p where p.tenant_id = e.tenant_id
    ),
    0
  )
  where e.run_id = p_run_id
  returning * into v_erasure;
  if not found or v_erasure.finished_at is not null then
    return true;
  elsif v_erasure.noted_at is null
    and logloom_private.bucket_notes_erasures(v_erasure.tenant_id)
  then
    return false;
  elsif exists (
    select
    from logloom.archive_parts p
    where p.tenant_id = v_erasure.tenant_id
      and (
        p.status = 'draft'
        or p.number > v_erasure.position_number and p.number <= v_erasure.parts_through
          and p.last_ts >= v_erasure.ts_from and p.first_ts < v_erasure.ts_to
      )
  ) or exists (
    -- Objects without a row, of which nobody knows what they hold.
    select from logloom_private.archive_garbage g where g.tenant_id = v_erasure.tenant_id
  ) then
    return false;
  end if;
  update logloom_private.archive_erasures e
  set finished_at = clock_timestamp(), error = null
  where e.run_id = p_run_id;
  return true;
end;
$$;

-- Whether an erasure waits for the archive alone.
create function logloom_private.waits_for_archive(p_run_id uuid)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.archive_erasures e
    where e.run_id = p_run_id and e.parts_through is not null and e.finished_at is null
  );
end;
$$;

-- Takes what an erasure did in the archive into its receipt.
create function logloom_private.take_archive_erasure(
  p_run_id uuid,
  out records bigint,
  out files integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The row stays a while: a file that was read before it ended is not kept. One that failed holds
  -- nothing up any more.
  update logloom_private.archive_erasures e
  set finished_at = coalesce(e.finished_at, clock_timestamp())
  where e.run_id = p_run_id
  returning e.records, e.parts into records, files;
  records := coalesce(records, 0);
  files := coalesce(files, 0);
end;
$$;

-- Whether what a claim read may hold what an erasure has removed since.
create function logloom_private.was_erased_since(
  p_tenant_id text,
  p_since timestamptz,
  p_first_ts timestamptz,
  p_last_ts timestamptz
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.archive_erasures e
    where e.tenant_id = p_tenant_id and coalesce(e.finished_at, 'infinity') > p_since
      and e.ts_from <= p_last_ts and e.ts_to > p_first_ts
  );
end;
$$;

-- archive/is_archived.sql
-- Whether the archive has all that there is of a tenant's day: its rows, and the blocks with
-- records of it.
create function logloom_private.is_archived(p_tenant_id text, p_day date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_write_seq constant bigint := coalesce(
    (
      select a.write_seq
      from logloom_private.archived_days a
      where a.tenant_id = p_tenant_id and a.day = p_day
    ),
    -1
  );
  v_has_more boolean;
begin
  if exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq > v_write_seq
      and c.last_ts >= logloom_private.day_start(p_day)
      and c.first_ts < logloom_private.day_start(p_day + 1)
  ) then
    return false;
  elsif not logloom_private.partition_exists(p_day) then
    return true;
  end if;
  execute format(
    'select exists (select from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
      || 'and l.ts < %L::timestamptz and l.write_seq > %s)',
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), v_write_seq
  )
  into v_has_more;
  return not v_has_more;
end;
$$;

-- archive/list_log_archive.sql
create function logloom_private.read_archive(
  p_tenant_id text,
  p_limit integer,
  p_after uuid
)
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
  'Files of the tenant''s archive, those of the last days first, for members. p_limit 1 to 1000 '
  '(default 100), p_after: part_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- archive/list_log_archive_restores.sql
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
  'What was brought back from the tenant''s archive, newest first, for members. p_limit 1 to 1000 '
  '(default 100), p_after: restore_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- archive/match_log_archive.sql
-- Records of a file, as the function logloom-archive has read them, as rows.
create function logloom_private.archived_records(
  p_part logloom.archive_parts,
  p_records jsonb
)
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

-- The places, from 0, of those records of a file that an erasure is for.
create function logloom_private.match_archive(p_claim_id uuid, p_records jsonb)
returns integer[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because nobody but this file makes SQL over records
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
set statement_timeout = '60s'
as $$
begin
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_records', p_records is null);
  return to_jsonb(logloom_private.match_archive(p_claim_id, p_records));
end;
$$;

comment on function public.match_log_archive(uuid, jsonb) is
  'What the edge function logloom-archive calls: the places, from 0, of those records of a file '
  'that the erasure of its claim is for. Errors: PT400, PT404.';

-- archive/plan_archive_pass.sql
-- The days of a tenant with records that the archive does not have, which are over for long enough;
-- of rows only where something was written since.
create function logloom_private.days_to_archive(p_tenant_id text, p_now timestamptz)
returns setof date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select d.day
  from (
    select l.day
    from logloom_private.log_days l
    left join logloom_private.archived_days a
      on a.tenant_id = l.tenant_id and a.day = l.day
    where l.tenant_id = p_tenant_id
      and (
        a.write_seq is null
        or a.write_seq < (
          select max(w.write_seq) from logloom_private.log_writes w where w.day = l.day
        )
      )
    union
    select logloom_private.utc_day(c.first_ts) + n.n
    from logloom_private.blocks c
    cross join generate_series(
      0, logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts)
    ) n (n)
    left join logloom_private.archived_days a
      on a.tenant_id = c.tenant_id and a.day = logloom_private.utc_day(c.first_ts) + n.n
    where c.tenant_id = p_tenant_id and c.last_write_seq > coalesce(a.write_seq, -1)
  ) d
  cross join logloom_private.settings s
  where logloom_private.day_start(d.day + 1) + greatest(s.archive_after, s.seal_after) <= p_now
  order by d.day;
end;
$$;

-- Whether a tenant's day has enough records, of those that are yet to be archived, for a file of
-- its own.
create function logloom_private.is_day_of_its_own(p_tenant_id text, p_day date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_wanted constant integer := (select s.seal_day_records from logloom_private.settings s);
  v_write_seq constant bigint := coalesce(
    (
      select a.write_seq
      from logloom_private.archived_days a
      where a.tenant_id = p_tenant_id and a.day = p_day
    ),
    -1
  );
  v_rows bigint;
begin
  if (
    select coalesce(sum(c.records), 0) >= v_wanted
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.first_ts >= v_from and c.last_ts < v_to
      and c.first_write_seq > v_write_seq
  ) then
    return true;
  end if;
  execute format(
    'select count(*) from (select from logloom.logs l where l.tenant_id = %L '
      || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz and l.write_seq > %s limit %s) l',
    p_tenant_id, v_from, v_to, v_write_seq, v_wanted
  )
  into v_rows;
  return v_rows >= v_wanted;
end;
$$;

-- Begins the next pass of a tenant that has none: over its oldest day to archive or, where that
-- has few records, the days that it is archived with, once these are over. Whether there is one.
create function logloom_private.plan_archive_pass(p_tenant_id text, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_retention constant integer := logloom_private.retention_days(p_tenant_id);
  v_write_seq constant bigint :=
    coalesce((select max(w.write_seq) from logloom_private.log_writes w), 0);
  v_day date;
  v_span record;
  -- Small days up to this one wait for the end of their month.
  v_waits_through date := '-infinity';
begin
  select s.* into v_settings from logloom_private.settings s;
  if exists (
    select from logloom_private.archive_passes p where p.tenant_id = p_tenant_id
  ) then
    return true;
  end if;
  for v_day in select d from logloom_private.days_to_archive(p_tenant_id, p_now) d loop
    if logloom_private.is_archived(p_tenant_id, v_day) then
      insert into logloom_private.archived_days as a (tenant_id, day, write_seq)
      values (p_tenant_id, v_day, v_write_seq)
      on conflict (tenant_id, day) do update
      set write_seq = greatest(a.write_seq, excluded.write_seq);
      continue;
    end if;
    if logloom_private.is_day_of_its_own(p_tenant_id, v_day) then
      select v_day as first_day, v_day as last_day into v_span;
    else
      continue when v_day <= v_waits_through;
      v_span := logloom_private.archive_span(v_day, v_retention);
    end if;
    if logloom_private.day_start(v_span.last_day + 1)
      + greatest(v_settings.archive_after, v_settings.seal_after) > p_now
    then
      v_waits_through := v_span.last_day;
      continue;
    end if;
    insert into logloom_private.archive_passes (tenant_id, first_day, last_day, write_seq)
    values (p_tenant_id, v_span.first_day, v_span.last_day, v_write_seq);
    return true;
  end loop;
  return false;
end;
$$;

-- archive/put_off_garbage.sql
-- The objects that are to be deleted next.
create function logloom_private.due_garbage()
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select g.object_key
    from logloom_private.archive_garbage g
    where g.next_attempt_at <= clock_timestamp()
    order by g.next_attempt_at, g.object_key
    limit 50
  );
end;
$$;

-- Has objects wait that the bucket did not delete, such as one under a hold: the longer it has kept
-- one, the longer.
create function logloom_private.put_off_garbage(p_keys text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  update logloom_private.archive_garbage g
  set next_attempt_at =
    v_now + least(greatest(v_now - g.noted_at, interval '1 minute'), interval '1 hour')
  where g.object_key = any (p_keys);
end;
$$;

-- archive/restore_log_archive.sql
-- Orders that records come back from the archive, and who did.
create function logloom_private.request_restore(
  p_from text,
  p_to text,
  p_query_dsl text,
  p_keep_days integer,
  p_tenant_id text
)
returns public.logloom_archive_restore
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles neither compile queries nor write restores
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_settings logloom_private.settings;
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_restored_days;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_found record;
  v_days integer;
  v_restore logloom.archive_restores;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  select s.* into v_settings from logloom_private.settings s;
  if make_interval(days => p_keep_days) not between interval '1 day'
    and v_settings.restored_days_lifetime_max
  then
    perform logloom_private.refuse(
      'archive.keep_days_are_out_of_range',
      (extract(epoch from v_settings.restored_days_lifetime_max) / 86400)::integer::text
    );
  end if;
  v_range := logloom_private.search_range(p_from, p_to);
  v_query := logloom_private.search_query(null, p_query_dsl, now(), 'filter');
  perform logloom_private.refuse_warnings(v_query);
  select
    count(*)::integer as parts,
    greatest(logloom_private.utc_day(min(p.first_ts)), logloom_private.utc_day(lower(v_range)))
      as first_day,
    least(
      logloom_private.utc_day(max(p.last_ts)),
      logloom_private.utc_day(upper(v_range) - interval '1 microsecond')
    ) as last_day
  into v_found
  from logloom.archive_parts p
  where p.tenant_id = v_tenant_id and p.status <> 'draft'
    and p.last_ts >= lower(v_range) and p.first_ts < upper(v_range);
  if v_found.parts = 0 then
    perform logloom_private.refuse('archive.nothing_in_range');
  end if;
  -- Requests at once are counted one after another.
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'), hashtext(v_tenant_id));
  v_days := v_found.last_day - v_found.first_day + 1 + (
    select coalesce(sum(k.last_day - k.first_day + 1), 0)
    from logloom_private.kept_longer k
    where k.tenant_id = v_tenant_id and k.kept_until > now()
  );
  if v_days > v_max then
    perform logloom_private.refuse('archive.too_many_days', v_max::text, v_days::text);
  end if;
  insert into logloom.archive_restores (
    tenant_id, requested_by, first_day, last_day, ts_from, ts_to, query_dsl, kept_until, parts
  )
  values (
    v_tenant_id, logloom_private.actor(), v_found.first_day, v_found.last_day, lower(v_range),
    upper(v_range), coalesce(p_query_dsl, ''), now() + make_interval(days => p_keep_days),
    v_found.parts
  )
  returning * into v_restore;
  insert into logloom_private.kept_longer (kept_id, tenant_id, first_day, last_day, kept_until)
  values (
    v_restore.restore_id, v_tenant_id, v_restore.first_day, v_restore.last_day,
    v_restore.kept_until
  );
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, v_restore.requested_by, 'logs.restore_requested',
    v_restore.restore_id::text,
    jsonb_build_object(
      'query_dsl', v_restore.query_dsl, 'ts_from', v_restore.ts_from, 'ts_to', v_restore.ts_to,
      'kept_until', v_restore.kept_until
    )
  );
  return row(
    v_restore.restore_id, v_restore.tenant_id, v_restore.requested_by, v_restore.requested_at,
    v_restore.ts_from, v_restore.ts_to, v_restore.query_dsl, v_restore.kept_until,
    v_restore.status, v_restore.parts, v_restore.parts_done, v_restore.records, v_restore.bytes,
    v_restore.finished_at, v_restore.error
  )::public.logloom_archive_restore;
end;
$$;

create function public.restore_log_archive(
  p_from text default null,
  p_to text default null,
  p_query_dsl text default null,
  p_keep_days integer default null,
  p_tenant_id text default null
)
returns public.logloom_archive_restore
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.resolve_tenant_to_change(p_tenant_id);
  perform logloom_private.require_parameter('p_from', p_from is null);
  perform logloom_private.require_parameter('p_to', p_to is null);
  return logloom_private.request_restore(
    p_from, p_to, p_query_dsl, coalesce(p_keep_days, 7), p_tenant_id
  );
end;
$$;

comment on function public.restore_log_archive(text, text, text, integer, text) is
  'Brings archived records from p_from (inclusive) to p_to (exclusive) back for p_keep_days '
  '(default 7), those that match p_query_dsl where it is given; for admins. '
  'list_log_archive_restores tells how far it is. What is there already does not come twice. '
  'Errors: PT400 (max_restored_days of the plan), PT401, PT403, PT404 (nothing is archived of the '
  'range).';

-- archive/settle_log_archive_work.sql
-- A file was written, read back and is equal: it counts, unless an erasure has come meanwhile.
create function logloom_private.settle_write(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (p_details ->> 'records')::integer is distinct from p_claim.records then
    perform logloom_private.release_archive_claim(
      p_claim, 'The file has another number of records than the database'
    );
    return;
  elsif logloom_private.was_erased_since(
    p_claim.tenant_id, p_claim.claimed_at, p_claim.first_ts, p_claim.last_ts
  ) then
    perform logloom_private.release_archive_claim(
      p_claim, 'Records were erased while the file was written'
    );
    return;
  end if;
  update logloom.archive_parts p
  set status = 'verified', records = p_claim.records, first_ts = p_claim.first_ts,
    last_ts = p_claim.last_ts, bytes = (p_details ->> 'bytes')::bigint,
    sha256 = p_details ->> 'sha256', verified_at = clock_timestamp()
  where p.part_id = p_claim.part_id and p.status = 'draft';
  update logloom_private.archive_passes p
  set position_ts = p_claim.last_ts, position_id = p_claim.last_id, failures = 0, error = null,
    next_attempt_at = clock_timestamp()
  where p.tenant_id = p_claim.tenant_id;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
end;
$$;

-- An erasure has seen to a file: it had no match, was written anew without them, or held nothing
-- else; or the bucket has it no more.
create function logloom_private.settle_erasure(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part logloom.archive_parts;
  v_left constant integer := p_claim.records;
begin
  select p.* into v_part from logloom.archive_parts p where p.part_id = p_claim.part_id for update;
  if p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set status = 'missing' where p.part_id = v_part.part_id;
  elsif v_left is null or (p_details ->> 'records')::integer is distinct from v_left then
    perform logloom_private.release_archive_claim(
      p_claim, 'The file has another number of records than the erasure leaves'
    );
    return;
  elsif v_left = 0 then
    delete from logloom.archive_parts p where p.part_id = v_part.part_id;
    perform logloom_private.discard_object(v_part.tenant_id, v_part.object_key, 'erased');
    update logloom_private.archive_erasures e
    set emptied = e.emptied || v_part.part_id,
      noted_at = case when logloom_private.bucket_notes_erasures(e.tenant_id) then null
        else e.noted_at end
    where e.run_id = p_claim.run_id;
  elsif v_left < v_part.records then
    update logloom.archive_parts p
    set status = 'verified', generation = p.generation + 1, object_key = p_claim.object_key,
      records = v_left, first_ts = p_claim.first_ts, last_ts = p_claim.last_ts,
      bytes = (p_details ->> 'bytes')::bigint, sha256 = p_details ->> 'sha256',
      verified_at = clock_timestamp()
    where p.part_id = v_part.part_id;
    perform logloom_private.discard_object(v_part.tenant_id, v_part.object_key, 'erased');
  end if;
  update logloom_private.archive_erasures e
  set position_number = v_part.number, failures = 0, error = null,
    next_attempt_at = clock_timestamp(),
    records = e.records + coalesce(v_part.records - v_left, 0),
    parts = e.parts + (coalesce(v_left < v_part.records, false))::integer
  where e.run_id = p_claim.run_id;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
  perform logloom_private.end_archive_erasure(p_claim.run_id);
end;
$$;

-- A file was read: its records come back.
create function logloom_private.settle_restore(
  p_claim logloom_private.archive_claims,
  p_details jsonb,
  p_records jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part logloom.archive_parts;
  v_restore logloom.archive_restores;
  v_records integer;
begin
  select p.* into v_part from logloom.archive_parts p where p.part_id = p_claim.part_id;
  select r.* into v_restore
  from logloom.archive_restores r
  where r.restore_id = p_claim.run_id and r.status in ('queued', 'running')
  for update;
  if v_restore.restore_id is null or v_part.part_id is null then
    delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
    return;
  elsif p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set status = 'missing' where p.part_id = v_part.part_id;
    delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
    return;
  elsif logloom_private.was_erased_since(
    p_claim.tenant_id, p_claim.claimed_at, v_part.first_ts, v_part.last_ts
  ) then
    perform logloom_private.release_archive_claim(
      p_claim, 'Records were erased while the file was read'
    );
    return;
  end if;
  v_records := logloom_private.store_restored(v_part, v_restore, p_records);
  update logloom.archive_restores r
  set status = 'running', position_number = v_part.number, parts_done = r.parts_done + 1,
    records = r.records + v_records, bytes = r.bytes + v_part.bytes, failures = 0, error = null,
    next_attempt_at = clock_timestamp()
  where r.restore_id = v_restore.restore_id;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
end;
$$;

-- The bucket was looked at, some objects deleted, or some of its keys read.
create function logloom_private.settle_bucket_work(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  case p_claim.kind
    when 'check' then
      update logloom_private.archive_bucket b
      set bucket = s.archive_bucket, prefix = s.archive_prefix, checked_at = clock_timestamp(),
        problem = left(p_details ->> 'problem', 500)
      from logloom_private.settings s
      where b.singleton;
    when 'delete' then
      delete from logloom_private.archive_garbage g
      where g.object_key in (select jsonb_array_elements_text(p_details -> 'deleted'));
      perform logloom_private.put_off_garbage(
        array(select jsonb_array_elements_text(p_details -> 'left'))
      );
    when 'compare' then
      perform logloom_private.compare_archive(p_details);
    when 'adopt' then
      perform logloom_private.adopt_archived(p_claim, p_details);
    when 'recall' then
      perform logloom_private.settle_recall(p_claim, p_details);
  end case;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
end;
$$;

-- Notes what came of a claim: p_error where it failed. A claim that is no more changes nothing.
create function logloom_private.settle_archive_work(
  p_claim_id uuid,
  p_error text,
  p_details jsonb,
  p_records jsonb
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role changes the archive
declare
  v_claim logloom_private.archive_claims;
begin
  -- No erasure goes a step, and no block is made or removed, meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  select c.* into v_claim
  from logloom_private.archive_claims c
  where c.claim_id = p_claim_id
  for update;
  if not found then
    return;
  elsif p_error is not null then
    perform logloom_private.release_archive_claim(v_claim, p_error);
    return;
  end if;
  case v_claim.kind
    when 'write' then perform logloom_private.settle_write(v_claim, p_details);
    when 'erase' then perform logloom_private.settle_erasure(v_claim, p_details);
    when 'note' then perform logloom_private.settle_note(v_claim);
    when 'restore' then perform logloom_private.settle_restore(v_claim, p_details, p_records);
    else perform logloom_private.settle_bucket_work(v_claim, p_details);
  end case;
end;
$$;

create function public.settle_log_archive_work(
  p_claim_id uuid default null,
  p_error text default null,
  p_details jsonb default null,
  p_records jsonb default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '60s'
as $$
begin
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.settle_archive_work(
    p_claim_id, p_error, coalesce(p_details, '{}'), coalesce(p_records, '[]')
  );
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.settle_log_archive_work(uuid, text, jsonb, jsonb) is
  'What the edge function logloom-archive calls: what came of a claim, or p_error. Errors: PT400.';

-- archive/store_restored.sql
-- Makes blocks of those records of a file that are asked for and are not in the database: how many.
create function logloom_private.store_restored(
  p_part logloom.archive_parts,
  p_restore logloom.archive_restores,
  p_records jsonb
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_query constant logloom_private.compiled_query :=
    logloom_private.compile_query(p_restore.query_dsl, p_restore.requested_at);
  v_span constant integer :=
    logloom_private.block_days(logloom_private.retention_days(p_part.tenant_id));
  v_records logloom.logs[] := logloom_private.archived_records(p_part, p_records);
  v_there uuid[];
  v_from date;
  v_stored integer := 0;
begin
  v_there := array(
    select r.id
    from logloom_private.blocks c,
      logloom_private.block_records(c.tenant_id, c.block_id, null, array['id']) r
    where c.tenant_id = p_part.tenant_id and c.last_ts >= p_part.first_ts
      and c.first_ts <= p_part.last_ts
  );
  execute format(
    $query$
      select array_agg(l.record order by (l.record).ts, (l.record).id)
      from (
        select l as record
        from unnest($1) l
        left join unnest($2) t (id) on t.id = l.id
        where t.id is null and l.ts >= %L::timestamptz and l.ts < %L::timestamptz and (%s)
      ) l
      where not exists (
        select
        from logloom.logs h
        where h.tenant_id = %L and h.ts >= %L::timestamptz and h.ts <= %L::timestamptz
          and h.ts = (l.record).ts and h.id = (l.record).id
      )
    $query$,
    p_restore.ts_from, p_restore.ts_to, v_query.filter, p_part.tenant_id, p_part.first_ts,
    p_part.last_ts
  )
  into v_records
  using v_records, v_there;
  for v_from in
    select distinct logloom_private.span_start(logloom_private.utc_day(r.ts), v_span)
    from unnest(v_records) r
    order by 1
  loop
    v_stored := v_stored + (
      logloom_private.write_block(
        p_part.tenant_id,
        logloom_private.read_records(
          format(
            'select r.* from unnest($1) r where r.ts >= %L::timestamptz and r.ts < %L::timestamptz',
            logloom_private.day_start(v_from), logloom_private.day_start(v_from + v_span)
          ),
          v_records
        ),
        true
      )
    ).records;
  end loop;
  return v_stored;
end;
$$;

-- Ends a restore: done, or failed with the error; then what it brought goes with the next
-- retention.
create function logloom_private.end_restore(p_restore_id uuid, p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_restore logloom.archive_restores;
begin
  update logloom.archive_restores r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error, finished_at = clock_timestamp()
  where r.restore_id = p_restore_id
  returning * into v_restore;
  if p_error is not null then
    delete from logloom_private.kept_longer k where k.kept_id = p_restore_id;
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_restore.tenant_id, v_restore.requested_by, 'logs.restore_finished',
    p_restore_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'status', v_restore.status, 'records', v_restore.records, 'error', p_error
    ))
  );
end;
$$;

-- archive/wake_archive.sql
-- Wakes the edge function logloom-archive, which asks for work.
create function logloom_private.wake_archive()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint logloom_private.archive_endpoint;
begin
  select e.* into v_endpoint from logloom_private.archive_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.archive_endpoint has no url or no secret';
  end if;
  perform logloom_private.call_function(
    v_endpoint.url, 'X-Logloom-Archive-Secret', v_endpoint.secret
  );
end;
$$;

select logloom_private.finish_migration();
