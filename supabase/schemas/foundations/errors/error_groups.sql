create function logloom_private.error_groups_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('error_groups.state_is_unknown', 400,
      'Invalid p_state: any of new, regressed, open, resolved, ignored',
      'Leave it out for the groups that are not resolved or ignored.', null),
    ('error_groups.state_cannot_be_set', 400, 'Invalid p_state: open, resolved or ignored',
      'A group becomes new or regressed by itself.', null),
    ('error_groups.order_is_unknown', 400,
      'Invalid p_order: priority, last_seen, first_seen or records',
      'priority lists new and regressed groups first.', null),
    ('error_groups.group_or_record', 400, 'Send either p_fingerprint or p_id',
      'p_fingerprint names a group of list_error_groups, p_id a record of level error.', null),
    ('error_groups.record_is_no_error', 400, 'The record belongs to no error group',
      'Only records of level error belong to groups, and no spans.', null),
    ('error_groups.too_many_groups', 400, 'Invalid p_fingerprints: 1 to 1000 fingerprints',
      'Send several requests.', null),
    ('error_groups.no_change', 400,
      'Nothing to change: send p_state, p_assigned_to, p_note or p_merge_into',
      'An empty p_assigned_to or p_note removes it.', null),
    ('error_groups.ignored_until_needs_ignored', 400,
      'Invalid p_ignored_until: a time in the future, together with p_state ignored',
      'Leave it out to ignore the group until somebody opens it.', null),
    ('error_groups.release_needs_resolved', 400,
      'Invalid p_release: at most 200 characters, together with p_state resolved',
      'It names the last release that has the error.', null),
    ('error_groups.merge_into_itself', 400, 'Invalid p_merge_into: it is one of p_fingerprints',
      'Name another group that shall count their records.', null),
    ('error_groups.view_cannot_tell_new', 400,
      'p_new_since does not work in a view or with a portal session',
      'Use p_ts_from: groups that the reader''s records make have no history.', null),
    ('error_groups.view_hides_what_groups_need', 403,
      'This view hides fields that decide the error groups',
      'Ask the tenant''s admin for a view that shows level, service, msg and the attributes of '
        'errors.',
      'A view that hides level, service, msg, or attributes such as error or stack.'),
    ('error_groups.group_not_found', 404, 'Error group not found',
      'list_error_groups shows the groups. A merged group is no longer one of its own.',
      'It does not exist, was merged, or belongs to another tenant. In a view: the reader sees '
        'none of its records of the last day.');
end;
$$;
