-- Views of logs.
create function logloom_private.views_errors()
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
    ('views.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the view after whom it is for.', '`p_name` is blank or too long.'),
    ('views.query_has_stages', 400, 'A view takes a query without stages',
      'Leave out what follows the first bar: a view says which records there are, and whoever '
        'reads in it what becomes of them.', '`p_query_dsl` has a stage.'),
    ('views.field_cannot_be_hidden', 400, 'Invalid p_hidden_fields: %s cannot be hidden',
      'Fields of a record are hidden by their names, attributes as attrs.PATH, all of them as '
        'attrs. Records always show id, tenant_id, ts and received_at.',
      'No field, or one that every record shows.'),
    ('views.too_many_hidden_fields', 400, 'Invalid p_hidden_fields: at most 100',
      'attrs hides all attributes.', null),
    ('views.operation_is_unknown', 400, 'Invalid p_operations: %s',
      'Any of %2$s; or all.', 'Not the name of a reading operation.'),
    ('views.no_room', 400, 'Plan limit exceeded: views (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.', 'The plan''s `max_views`.'),
    ('views.name_is_taken', 409, 'The tenant has another view of this name',
      'Choose another name, or change that view by update_log_view.', null),
    ('views.in_use', 409, 'The view is in use: %s',
      'First bind these to another view, or revoke and delete them.',
      '`delete_log_view`: API keys, members, alert rules, log streams or saved searches are bound '
        'to it.')
  ) e (name, status, message, hint, explanation);
end;
$$;
