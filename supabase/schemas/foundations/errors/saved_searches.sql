-- Saved searches. The error for a check constraint of saved_searches has the name of the
-- constraint.
create function logloom_private.saved_searches_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('saved_searches.saved_searches_name_is_valid', 400,
      'Invalid p_name: 1 to 200 characters after trimming', 'Name the search after what it finds.',
      null),
    ('saved_searches.saved_searches_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('saved_searches.saved_searches_category_is_valid', 400,
      'Invalid p_category: at most 100 characters', 'Shorten it.', null),
    ('saved_searches.saved_searches_tags_are_valid', 400,
      'Invalid p_tags: at most 20 tags of 1 to 50 characters each', 'Send a flat array of texts.',
      null),
    ('saved_searches.saved_searches_display_is_valid', 400,
      'Invalid p_display: an object of at most 4000 bytes', 'Send a smaller object.', null),
    ('saved_searches.query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      '* finds every record.', null),
    ('saved_searches.not_its_creator', 403, 'Only its creator may change or delete a saved search',
      'Save your own with create_saved_search.', 'A colleague created and shared it.'),
    ('saved_searches.not_found', 404, 'Saved search not found',
      'list_saved_searches shows the searches that you can read.',
      'It does not exist, belongs to another tenant, or is a colleague''s private one.');
end;
$$;
