-- The archive.
create function logloom_private.archive_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select e.*
  from (
    values
    ('archive.nothing_in_range', 404, 'Nothing is archived of this range',
      'list_log_archive shows the files that there are.', '`restore_log_archive`.'),
    ('archive.keep_days_are_out_of_range', 400, 'Invalid p_keep_days: 1 to %s',
      'Bring them back again when they are needed again.',
      'At most `settings.restored_days_lifetime_max`.'),
    ('archive.too_many_days', 400, 'Plan limit exceeded: restored days (max %s, would be %s)',
      'Narrow the range, or wait until others go: list_log_archive_restores shows when.',
      'The plan''s `max_restored_days`: days that are back at once.'),
    ('archive.claim_not_found', 404, 'The claim is not there any more',
      'Another run of logloom-archive has taken it up.',
      'What `logloom-archive` worked at took too long.')
  ) e (name, status, message, hint, explanation);
end;
$$;
