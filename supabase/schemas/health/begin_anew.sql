-- Lets a copy of the database go on as a project of its own, called by postgres. What waits to be
-- sent is given up and files of the archive are forgotten, since the first project has them, too:
-- it sends and deletes them itself. Refused where no other project's functions have called.
create function logloom_private.begin_anew()
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason constant text := 'The database was copied: this is the first project''s';
begin
  if not logloom_private.is_copied() then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'This database is no copy: functions of its own project call it',
      hint = 'Ask /functions/v1/health/ready of the new project first: it notes whose it is.';
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
  -- With another id it does not use the prefix of the first, and with another key not its notes.
  update logloom_private.archive_bucket b
  set installation_id = default, note_key = default
  where b.singleton;
  update logloom_private.installation i set project_url = null, other_url = null where i.singleton;
  return 'begun anew';
end;
$$;
