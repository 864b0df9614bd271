create function public.preview_ingest_rule(
  p_condition text default null,
  p_action jsonb default null
)
returns public.logloom_ingest_rule_preview
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_preview public.logloom_ingest_rule_preview;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_action', p_action is null);
  v_preview.rule := logloom_private.compiled_rule(v_tenant_id, p_condition, p_action);
  v_preview.seen := (select s.value from public.log_stats('| count()') s);
  v_preview.matched :=
    (select s.value from public.log_stats(concat(p_condition, ' | count()')) s);
  v_preview.examples := (public.search_logs(p_condition, p_limit => 20)).logs;
  return v_preview;
end;
$$;

comment on function public.preview_ingest_rule(text, jsonb) is
  'Checks a rule without saving it. Returns the records of the last hour that it would match: '
  '{seen, matched, rule, examples}. For admins. Errors: PT400, PT401, PT403, PT408, PT429.';
