create function logloom_private.ingest_rules_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('ingest_rules.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the rule after what it does.', null),
    ('ingest_rules.condition_has', 400, 'The condition of a rule cannot have %s',
      'A condition has tests of fields and top-level attributes, joined by AND. Examples: '
        'service:api, host:web-*, @plan:free, level:>=warn, a text of msg. A minus before a test '
        'negates it.',
      'The query language allows it, the function `ingest` cannot evaluate it.'),
    ('ingest_rules.action_is_invalid', 400, 'Invalid p_action: %s',
      'docs/reference/api/ingest-rules.md shows each action.',
      'The message names the member and what it takes.'),
    ('ingest_rules.hash_needs_a_key', 400, 'A mask with "hash": true needs a key',
      'Send p_secrets {"hash_key": sealed text}, sealed for ingest_rules.', null),
    ('ingest_rules.order_is_incomplete', 400, 'Invalid p_rule_ids: not each rule once',
      'Send the rule_id of every rule of list_ingest_rules, in the new order.', null),
    ('ingest_rules.no_room', 400, 'Plan limit exceeded: ingest rules (max %s)',
      'Delete a rule that is no longer needed, or choose a larger plan.',
      'The plan''s `max_ingest_rules`.'),
    ('ingest_rules.not_found', 404, 'Ingest rule not found',
      'list_ingest_rules shows the rules of this tenant.', null),
    ('ingest_rules.name_is_taken', 409, 'The tenant has another ingest rule of this name',
      'Choose another name, or change that rule by update_ingest_rule.', null);
end;
$$;
