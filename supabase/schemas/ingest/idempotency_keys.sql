create function logloom_private.idempotency_key_lifetime()
returns interval
language sql
immutable
return interval '24 hours';

-- Returns an answer without its list of errors, because the list can be long. Adds the allowed
-- range of ts and the number of spans: they are enough to make the list again.
create function logloom_private.without_errors(
  p_state logloom_private.ingest_state,
  p_answer json
)
returns json
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_answer -> 'errors' is null then
    return p_answer;
  end if;
  return p_answer::jsonb - 'errors' || jsonb_build_object(
    'keeps_from', p_state.keeps_from, 'takes_to', p_state.takes_to,
    'spans_left', p_state.spans_left
  );
end;
$$;

-- Returns the first answer to an Idempotency-Key, or to a slice of its request. If there is none,
-- returns null and keeps p_response, if given, as the first answer. Raises PT409 if the key was
-- used with another body.
create function logloom_private.first_answer(
  p_state logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest text,
  p_slice integer,
  p_response json default null
)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- The same body for another service is another request.
  v_key constant text := concat(p_state.service || e'\x1f') || p_idempotency_key;
  v_body_digest constant bytea := decode(p_body_digest, 'hex');
  v_expired constant timestamptz := now() - logloom_private.idempotency_key_lifetime();
  v_known logloom_private.idempotency_keys;
begin
  if p_response is not null then
    -- A second request with this key waits here for the first one's commit.
    insert
      into logloom_private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
    values (
      p_state.tenant_id, v_key, v_body_digest,
      case
        when p_slice is null then p_response
        else json_build_object(p_slice::text, p_response)
      end
    )
    on conflict (tenant_id, idempotency_key) do update
    set
      body_digest = excluded.body_digest,
      response = case
        when k.created_at < v_expired then excluded.response
        else (k.response::jsonb || excluded.response::jsonb)::json
      end,
      created_at = case when k.created_at < v_expired then now() else k.created_at end
    where k.created_at < v_expired
      or (
        p_slice is not null
        and k.body_digest = excluded.body_digest
        and k.response -> p_slice::text is null
      );
    if found then
      return null;
    end if;
  end if;
  select k.* into v_known
  from logloom_private.idempotency_keys k
  where k.tenant_id = p_state.tenant_id and k.idempotency_key = v_key
    and k.created_at >= v_expired;
  if v_known.body_digest <> v_body_digest then
    perform logloom_private.refuse_with_headers(
      logloom_private.quota_headers(p_state, 0), 'ingest.idempotency_key_has_another_body'
    );
  end if;
  return case
    when p_slice is null then v_known.response
    else v_known.response -> p_slice::text
  end;
end;
$$;
