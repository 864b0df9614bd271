-- Turns a copy of the database into a project of its own. For postgres to call. Drops pending
-- notifications and batches and forgets archive files, because these belong to the original
-- project. Raises an error if the database is no copy.
create function logloom_private.begin_anew()
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason constant text := 'The database was copied: this belongs to the original project';
begin
  if not logloom_private.is_copied() then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'This database is not a copy: only its own project calls it',
      hint = 'Call /functions/v1/health/ready of the new project first: it notices the copy.';
  end if;
  perform logloom_private.end_notification(n, 'failed', null, v_reason)
  from logloom_private.notifications n
  where n.status = 'pending';
  perform logloom_private.drop_batch(s) from logloom.log_streams s;
  update logloom.log_streams s
  set position_seq = logloom_private.last_write_seq() + 1, position_id = null,
    pending_since = null, test_id = null, claim_id = null, claimed_until = null
  where true;
  perform logloom_private.forget_archive(v_reason);
  delete from logloom_private.archive_garbage g where true;
  delete from logloom_private.archived_days a where true;
  perform logloom_private.compare_archive_anew();
  -- With a new id, the archive refuses the original project's prefix. With a new key, the archive's
  -- notes of erasures by the original project are not accepted.
  update logloom_private.archive_bucket b
  set installation_id = default, note_key = default
  where b.singleton;
  update logloom_private.installation i set project_url = null, other_url = null where i.singleton;
  return 'begun anew';
end;
$$;
