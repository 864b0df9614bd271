create function logloom_private.views_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('views.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the view after the people it is for.', null),
    ('views.query_has_stages', 400, 'A view takes a query without stages',
      'Remove the first bar and all that follows it: a view selects records.', null),
    ('views.field_cannot_be_hidden', 400, 'Invalid p_hidden_fields: %s cannot be hidden',
      'Send names of fields, attrs.PATH for an attribute, or attrs for all attributes. Records '
        'always show id, tenant_id, ts and received_at.',
      'It is not a field, or every record shows it.'),
    ('views.too_many_hidden_fields', 400, 'Invalid p_hidden_fields: a flat array of at most 100',
      'attrs hides all attributes.', null),
    ('views.operation_is_unknown', 400, 'Invalid p_operations: %s', 'Any of %2$s; or all.',
      'It is not the name of a reading operation.'),
    ('views.no_room', 400, 'Plan limit exceeded: views (max %s)',
      'Delete a view that is no longer needed, or choose a larger plan.',
      'The plan''s `max_views`.'),
    ('views.name_is_taken', 409, 'The tenant has another view of this name',
      'Choose another name, or change that view by update_log_view.', null),
    ('views.in_use', 409, 'The view is in use: %s',
      'Bind these to another view, or revoke or delete them.',
      '`delete_log_view`: API keys, members, alert rules, log streams or saved searches are '
        'bound to it.');
end;
$$;
