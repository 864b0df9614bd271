-- An object that the bucket does not delete keeps no tenant's files, erasures and restores waiting.
-- Keys have letters that every store takes; files that are there keep theirs.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

create or replace function logloom_private.due_garbage()
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

create or replace function logloom_private.put_off_garbage(p_keys text[])
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

create or replace function logloom_private.claim_bucket_work(
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

create or replace function logloom_private.settle_bucket_work(
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

create or replace function logloom_private.release_archive_claim(
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

create or replace function logloom_private.archive_health(p_now timestamptz)
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

create or replace function logloom_private.archive_tenant_name(p_tenant_id text)
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

select logloom_private.finish_migration();
