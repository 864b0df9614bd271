create function logloom_private.archive_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('archive.nothing_in_range', 404, 'Nothing in this range is archived',
      'list_log_archive shows the files of the archive.', null),
    ('archive.keep_days_are_out_of_range', 400, 'Invalid p_keep_days: 1 to 90',
      'You can restore the records again later.', null),
    ('archive.too_many_days', 400, 'Plan limit exceeded: restored days (max %s, would be %s)',
      'Narrow the range, or wait until restored days expire: list_log_archive_restores shows when.',
      'The plan''s `max_restored_days` at the same time.'),
    ('archive.claim_not_found', 404, 'The claim no longer exists',
      'Another run of logloom-archive has taken over the work.',
      '`logloom-archive` took too long, and another run has taken over the work.');
end;
$$;
