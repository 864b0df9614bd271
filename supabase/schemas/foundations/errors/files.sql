create function logloom_private.files_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    ('files.documents_are_invalid', 400,
      'Invalid p_documents: an array of at most 1000 objects {type, name, renamed_from, fields}',
      'Apply one type of things after the other.', null),
    ('files.document_is_invalid', 400, 'A document needs a type, a name and an object of fields',
      'A name has no spaces at its ends. secrets is an object, too.', null),
    ('files.type_is_unknown', 400, 'A type of things is unknown: the types are %s',
      'The types are the top-level names in a file.', null),
    ('files.type_needs_a_user', 400, 'saved_searches and dashboards belong to users',
      'Apply them with the token of a user; service_role has none of its own.', null),
    ('files.field_is_unknown', 400, '%s have no field %s', 'The fields are %3$s.', null),
    ('files.field_is_invalid', 400, 'Invalid %s: its type is %s', 'Write a value of this type.',
      null),
    ('files.field_is_fixed', 400, '%s cannot be changed',
      'Give the thing another name: the old one is then deleted by --prune.', null),
    ('files.name_is_repeated', 400, 'Two documents describe the same thing of the type %s',
      'A name is used once in each type, and renamed_from names a thing of no other document.',
      null),
    ('files.name_is_ambiguous', 400, 'Several %s have this name',
      'Rename or delete all but one of them.', null),
    ('files.hash_keys_differ', 400, 'Two ingest rules have different hash_key',
      'A tenant has one key for all its hashes: use one variable.', null),
    ('files.rule_is_named', 409, 'A silence in the files names this rule',
      'Remove the silence, or its rule, from the files.', null),
    ('files.caller_is_pruned', 409, 'A user cannot remove themself by files',
      'Add the user who applies the files to members.', null),
    ('files.took_too_long', 408, 'The files took too long, and nothing was changed',
      'Apply one type of things after the other.', null),
    ('files.plan_is_no_document', 400,
      'A plan has a plan_id and an object of fields, and cannot be renamed',
      'A plan_id has 1 to 100 letters, digits, - and _.', null),
    ('files.plan_is_invalid', 400, 'Invalid plan %s: %s',
      'docs/reference/settings.md lists the fields of a plan.', null),
    ('files.no_plan_is_default', 400, 'No plan has is_default',
      'A tenant that is created by its first write gets the plan that has it.', null),
    ('files.plans_are_used', 409, 'Plans that tenants have cannot be deleted: %s',
      'Give these tenants another plan first.', null),
    ('files.plans_are_busy', 429, 'Another request changes the plans',
      'Nothing was changed. Try again in a moment.', null),
    ('files.tenant_is_busy', 429, 'Another request changes things of this tenant',
      'Nothing was changed. Try again in a moment.', null);
end;
$$;
