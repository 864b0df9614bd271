-- Returns the check of the archive: its delay, its contents, and what it waits for. Null if no plan
-- has an archive and nothing is archived.
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
    -- Objects in the list for over an hour: the bucket was asked to delete them, and did not.
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
        'The bucket cannot be used: see problem in logloom_private.archive_bucket'
      end,
      case when v_passes.failing > 0 then
        v_passes.failing
          || ' tenants cannot be archived: see error in logloom_private.archive_passes'
      end,
      case when v_passes.oldest < p_now - v_settings.archive_grace then
        format(
          'Days have waited for the archive for over %s. Retention %s them',
          v_settings.archive_grace,
          case v_settings.archive_overtaken when 'drop' then 'drops' else 'keeps' end
        )
      end,
      case when v_erasures.oldest < p_now - interval '1 hour' then
        format('%s erasures have not reached the archive yet', v_erasures.open)
      end,
      case when v_files.missing > 0 then
        format('The bucket lacks %s files: see logloom.archive_parts', v_files.missing)
      end,
      case when v_garbage.later > 0 then
        format(
          'The bucket has %s files that are newer than the restored database: '
            'see logloom_private.archive_garbage',
          v_garbage.later
        )
      end,
      case when v_idle is null and v_bucket.problem is null and v_garbage.kept > 0 then
        format(
          'The bucket does not delete %s objects: see logloom_private.archive_garbage',
          v_garbage.kept
        )
      end,
      case when v_foreign_notes > 0 then
        format(
          'The bucket has %s notes of erasures that Logloom did not write: '
            'see logloom_private.archive_notes',
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
