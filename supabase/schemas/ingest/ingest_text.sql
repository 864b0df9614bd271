-- Runs logloom_private.ingest for each request, in one transaction. Consecutive requests of one
-- caller use the same ingest_state.
create function logloom_private.ingest_each(p_requests text[])
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role cannot read digests or write to the queue
declare
  v_text text;
  v_before logloom_private.ingest_request;
  v_request logloom_private.ingest_request;
  v_state logloom_private.ingest_state;
  v_accepted logloom_private.ingest_answer;
  v_answer json;
  v_answers json[] := '{}';
  v_sqlstate text;
  v_detail text;
  v_hint text;
begin
  foreach v_text in array p_requests loop
    -- A block for each request: a refusal does not affect the others.
    begin
      v_request := logloom_private.request_of_text(v_text);
      if v_state is null
        or v_request.p_key_digest is distinct from v_before.p_key_digest
        or v_request.p_tenant_id is distinct from v_before.p_tenant_id
        or v_request.p_claims is distinct from v_before.p_claims
      then
        v_state := logloom_private.ingest_state(
          v_request.p_tenant_id, v_request.p_key_digest, v_request.p_claims,
          cardinality(p_requests)
        );
        v_before := v_request;
      end if;
      if v_request.p_ts is null then
        v_accepted := logloom_private.limits_of_sender(v_state);
      else
        v_accepted := logloom_private.ingest(v_request, v_state);
      end if;
      v_state.events := v_state.events + v_accepted.ingested;
      if v_accepted.ingested > 0 then
        v_state.bytes := v_state.bytes + coalesce(v_request.p_bytes, 0);
      end if;
      v_answer := json_build_object(
        'status', v_accepted.status, 'headers', v_accepted.headers, 'body', v_accepted.body::text
      );
    exception when others then
      get stacked diagnostics
        v_sqlstate = returned_sqlstate, v_detail = pg_exception_detail,
        v_hint = pg_exception_hint;
      -- The refusal rolled back last_used_at of the key. The next request has to set it again.
      if v_request.p_key_digest is not null then
        v_state := null;
      end if;
      v_answer := case
        when v_sqlstate = 'PGRST' then json_build_object(
          'status', v_detail::json -> 'status', 'headers', v_detail::json -> 'headers',
          'body', sqlerrm
        )
        when v_sqlstate like 'PT%' then json_build_object(
          'status', substr(v_sqlstate, 3)::integer, 'headers', '{}'::json,
          'body', json_build_object(
            'code', v_sqlstate, 'message', sqlerrm, 'hint', nullif(v_hint, '')
          )::text
        )
        else json_build_object(
          'status', 500, 'headers', '{}'::json,
          'body', json_build_object('code', v_sqlstate, 'message', '')::text
        )
      end;
    end;
    v_answers := v_answers || v_answer;
  end loop;
  return array_to_json(v_answers);
end;
$$;

-- The parameter has no name: PostgREST then passes a text/plain body on unchanged.
create function public.ingest_text(text default '')
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
begin
  return logloom_private.ingest_each(string_to_array($1, e'\x1c'));
end;
$$;

comment on function public.ingest_text(text) is
  'For the edge function ingest. Runs requests of one caller in one transaction. The body is plain '
  'text: requests separated by U+001C. A request is the JSON of logloom_private.ingest_request. '
  'Its columns may follow the JSON instead (logloom_private.request_of_text). Returns one answer '
  'for each request, in the same order: {status, headers: {name: value}, body: text}. body is '
  'JSON. Success: {success, ingested, dropped, rejected, cut, errors}. Error: {code, message, '
  'hint} with PT401, PT403, PT404, PT409, PT413, PT429 or PT503. Another version of the rules: '
  '{code: PT412, rules}. A refused request does not affect the others. The watermark assumes that '
  'a call ends within its statement_timeout.';
