-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- reading/read_in_scope.sql
-- What a reading operation answers in a scope, as PostgREST writes it; p_parameters by name.
create function logloom_private.read_in_scope(
  p_scope logloom_private.reading_scope,
  p_operation text,
  p_parameters jsonb
)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reader text;
  v_operation pg_proc;
  v_unknown text;
  v_arguments text;
  v_invalid record;
  v_answer json;
begin
  select o.reader into v_reader
  from logloom_private.reading_operations() o
  where o.operation = p_operation;
  if not found then
    perform logloom_private.refuse('reading.operation_is_unknown', p_operation);
  elsif jsonb_typeof(p_parameters) <> 'object' then
    perform logloom_private.refuse('reading.parameters_are_no_object');
  end if;
  select p.* into v_operation
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.proname = p_operation;
  select min(n) into v_unknown
  from jsonb_object_keys(p_parameters) n
  where n <> all (v_operation.proargnames);
  if v_unknown is not null then
    perform logloom_private.refuse(
      'reading.parameter_is_unknown', left(v_unknown, 60),
      array_to_string(v_operation.proargnames, ', ')
    );
  end if;
  select a.name, format_type(a.type, null) as type into v_invalid
  from unnest(v_operation.proargnames, v_operation.proargtypes) a (name, type)
  where not pg_input_is_valid(p_parameters ->> a.name, format_type(a.type, null));
  if found then
    perform logloom_private.refuse(
      'reading.parameter_is_invalid', v_invalid.name, v_invalid.type
    );
  end if;
  select string_agg(format(', ($2 ->> %L)::%s', a.name, format_type(a.type, null)), '' order by a.n)
  into v_arguments
  from unnest(v_operation.proargnames, v_operation.proargtypes) with ordinality a (name, type, n);
  execute format(
    case when v_operation.proretset
      then 'select coalesce(json_agg(r), ''[]'') from logloom_private.%I($1%s) r'
      else 'select to_json(r) from logloom_private.%I($1%s) r' end,
    v_reader, v_arguments
  )
  into v_answer
  using p_scope, p_parameters;
  return v_answer;
end;
$$;

-- reading/read_logs.sql
-- What is answered to an API key or the token of a portal session, of which p_digest is the SHA-256
-- as hex. Their use is written down after the answer: what is written stays locked until the end,
-- and whoever revokes the key or the session, or deletes what it belongs to, must not wait for a
-- search.
create function logloom_private.read_by_key(
  p_digest text,
  p_operation text,
  p_parameters jsonb,
  p_origin text
)
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the digests of keys
declare
  v_session logloom.portal_sessions;
  v_scope logloom_private.reading_scope;
  v_answer json;
begin
  select s.* into v_session
  from logloom.portal_sessions s
  where s.token_digest = decode(p_digest, 'hex');
  if found then
    v_scope := logloom_private.scope_of_session(v_session, p_origin);
    perform logloom_private.take_portal_read(v_scope.tenant_id);
    v_answer := logloom_private.read_in_scope(v_scope, p_operation, p_parameters);
    perform logloom_private.note_session_use(v_session);
    return v_answer;
  end if;
  v_answer := logloom_private.read_in_scope(
    logloom_private.scope_of_key(p_digest), p_operation, p_parameters
  );
  perform logloom_private.note_key_read(p_digest, p_operation);
  return v_answer;
end;
$$;

create function public.read_logs(
  p_key_digest text default null,
  p_operation text default null,
  p_parameters jsonb default null,
  p_origin text default null
)
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  perform
    logloom_private.require_parameter('p_key_digest', p_key_digest is null),
    logloom_private.require_parameter('p_operation', p_operation is null);
  return logloom_private.read_by_key(
    p_key_digest, p_operation, coalesce(p_parameters, '{}'), p_origin
  );
end;
$$;

comment on function public.read_logs(text, text, jsonb, text) is
  'For the function logloom-read: what an operation answers to an API key with the scope read, or '
  'to a portal session, of which p_key_digest is the SHA-256 as hex. p_parameters: those of the '
  'operation by name. p_origin: of the page that frames the portal. '
  'Errors: PT400, PT401, PT403, PT404, PT408, PT429.';

-- reading/reading_operations.sql
-- The operations that read for keys, and the function of each: it takes a scope, then what the
-- operation takes.
create function logloom_private.reading_operations()
returns table (operation text, reader text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select o.*
  from (
    values
      ('export_logs', 'read_log_export'),
      ('get_log', 'read_log'),
      ('get_log_context', 'read_log_context'),
      ('list_alert_history', 'read_alert_history'),
      ('list_alert_rules', 'read_alert_rules'),
      ('list_log_fields', 'read_log_fields'),
      ('list_saved_searches', 'read_saved_searches'),
      ('log_changes', 'read_log_changes'),
      ('log_histogram', 'read_log_histogram'),
      ('log_overview', 'read_log_overview'),
      ('log_series', 'read_log_series'),
      ('log_stats', 'read_log_stats'),
      ('search_logs', 'read_log_page'),
      ('tail_logs', 'read_log_tail'),
      ('validate_query', 'read_query_validity')
  ) o (operation, reader);
end;
$$;

select logloom_private.finish_migration();
