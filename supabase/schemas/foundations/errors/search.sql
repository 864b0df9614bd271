-- Searches, pages, tails and single records.
create function logloom_private.search_errors()
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
    ('search.page_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_cursor for more.', 'A page has 1 to 1000 items.'),
    ('search.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to exclusive and now where it is left out.', null),
    ('search.log_not_found', 404, 'Log record not found',
      'It may be on its way still, or past its retention.',
      'No such id in this tenant, not written yet, or past its retention.'),
    ('search.took_too_long', 408, 'The search took too long',
      'Narrow it: a shorter range of time, or a filter by level, service or req_id.',
      '15 seconds. Narrow the range or the query.'),
    ('search.too_many_of_this_tenant', 429, 'Too many searches of this tenant are running',
      'Wait for one to end; the plan says how many may run at once.',
      'More at once than the plan''s `concurrent_searches`; `Retry-After`.'),
    ('search.too_many_in_views', 429,
      'Too many searches in the views and portals of this tenant are running',
      'Wait for one to end; together they have half of what the plan allows.',
      'More at once than half of the plan''s `concurrent_searches`; `Retry-After`.'),
    ('search.too_many_are_running', 429, 'Too many searches are running', 'Try again in a moment.',
      'Those of all tenants hold their share of the connections.'),
    ('search.range_leaves_the_years', 400, 'Invalid range: only the years 1970 to 9999',
      'Send both as ISO 8601, such as 2026-11-21T10:00:00Z.', null),
    ('search.cursor_is_invalid', 400, 'Invalid p_cursor',
      'Send next_cursor of the page before, unchanged, or none to begin.',
      'It is not a `next_cursor` of this operation.'),
    ('search.cursor_is_outdated', 400, 'Invalid p_cursor: it is from an earlier version of Logloom',
      'Start again without p_cursor.', 'A cursor of `tail_logs` from version 1.0.0.'),
    ('search.cursor_has_another_order', 400, 'Invalid p_cursor: it belongs to the other p_order',
      'Send the p_order of the page before.', '`desc` and `asc` have cursors of their own.'),
    ('search.cursor_lies_ahead', 400,
      'Invalid p_cursor: it is newer than the database',
      'The database was restored from before it. Start again without p_cursor.', null),
    ('search.order_is_unknown', 400, 'Invalid p_order: desc or asc',
      'desc gives the newest records first.', null),
    ('search.backlog_is_out_of_range', 400, 'Invalid p_backlog: 0 to %s',
      'So many of the newest records a tail begins with.',
      '`tail_logs` begins with so many records.'),
    ('search.buckets_are_out_of_range', 400, 'Invalid p_buckets: 1 to %s',
      'The width of a bucket follows from the range and p_buckets.',
      'A histogram has 1 to 1000 buckets.'),
    ('search.changes_are_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'The most surprising changes come first.', '`log_changes` has at most 100 changes.'),
    ('search.field_is_hidden', 400, 'The field %s is hidden from you',
      'Leave it out. Who gave you access decides what is hidden.', null),
    ('search.format_is_unknown', 400, 'Invalid p_format: ndjson, csv or json',
      'Left out it is ndjson.', null),
    ('search.place_is_invalid', 400, 'Invalid p_after: <ts>,<id> of a record',
      'Send both as the last line that you have holds them.', null),
    ('search.place_is_outside', 400, 'Invalid p_after: it lies outside the range',
      'Name the range in full as it was when the export began, or send its cursor with it.',
      'The default range and `now-1h` move on.'),
    ('search.place_meets_limit', 400, 'Invalid p_after: the query has a limit',
      'Leave limit out, or go on by next_cursor alone.', 'A limit counts from the beginning.'),
    ('search.context_is_out_of_range', 400, 'Invalid p_before or p_after: 0 to %s',
      'Leave them out for 20 records on each side.', null),
    ('search.query_gives_no_records', 400,
      'Invalid p_query_dsl: this operation returns records, not %s',
      'Leave out the bar and what follows, or ask log_stats.', null),
    ('search.takes_no_stage', 400, 'Invalid p_query_dsl: %s takes no stage %s',
      'Leave the stage out.', null),
    ('search.order_is_another', 400, 'Invalid p_order: p_query_dsl sorts by ts %s',
      'Leave out one of them.', null),
    ('search.stage_met_its_bound', 400, 'The stage %s reached its limit of %s %s',
      'Narrow the filter before it, or the range of time.', null),
    ('search.too_many_validations', 429, 'Too many queries of this tenant are being validated',
      'Wait for one to end.',
      '`validate_query`, and saving a query longer than `quick_query_bytes`: more at once than '
        '`concurrent_validations`.'),
    ('search.block_format_is_unknown', 501, 'Blocks of format %s cannot be read by this version',
      'A later version of Logloom has written them: install it again.',
      'A later version has sealed these records: the database was brought back to an older one.'),
    ('search.records_are_away', 504, 'The server that has these records does not answer',
      'Try again in a moment. What is sent meanwhile is kept.',
      'Records are sharded, or what is stored took 8 s to sum up; `Retry-After`.')
  ) e (name, status, message, hint, explanation);
end;
$$;
