-- Logs are read by keys, views and programs.

set local check_function_bodies = off;

do $$
begin
  perform set_config('lock_timeout', '30s', true);
  -- No table has a column of this type.
  alter type logloom_private.reading_scope
    add attribute actor text,
    add attribute filter jsonb,
    add attribute hidden_fields text[];
  perform set_config('lock_timeout', '0', true);
end;
$$;

comment on type logloom_private.reading_scope is
  'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled '
  'query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), '
  'by operations (null: all that read). actor: who reads, as the audit log names them.';

select logloom_private.finish_migration();
