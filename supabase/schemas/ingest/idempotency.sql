-- The first answer to an Idempotency-Key, or to a slice of its request; null where there is none.
-- PT409 where the body was another.
create function logloom_private.repeated_answer(
  p_state logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest bytea,
  p_slice integer
)
returns json
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known logloom_private.idempotency_keys;
begin
  select k.* into v_known
  from logloom_private.idempotency_keys k
  where k.tenant_id = p_state.tenant_id and k.idempotency_key = p_idempotency_key
    and k.created_at >= now() - p_state.idempotency_key_lifetime;
  if v_known.body_digest <> p_body_digest then
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

-- Keeps the answer to a request, or adds that to one of its slices to the one row of the request,
-- without its errors. Null; where another was quicker, its answer. PT409 where the body was
-- another.
create function logloom_private.note_answer(
  p_state logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest bytea,
  p_slice integer,
  p_response json
)
returns json
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_noted constant json := case
    when p_slice is null then p_response
    else json_build_object(p_slice::text, p_response::jsonb - 'errors')
  end;
begin
  -- A second request with this key waits here for the first one's commit.
  insert
    into logloom_private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
  values (p_state.tenant_id, p_idempotency_key, p_body_digest, v_noted)
  on conflict (tenant_id, idempotency_key) do update
  set
    body_digest = excluded.body_digest,
    response = case
      when k.created_at < now() - p_state.idempotency_key_lifetime then excluded.response
      else (k.response::jsonb || excluded.response::jsonb)::json
    end,
    created_at = case
      when k.created_at < now() - p_state.idempotency_key_lifetime then now()
      else k.created_at
    end
  where k.created_at < now() - p_state.idempotency_key_lifetime
    or (
      p_slice is not null
      and k.body_digest = excluded.body_digest
      and k.response -> p_slice::text is null
    );
  if found then
    return null;
  end if;
  return logloom_private.repeated_answer(p_state, p_idempotency_key, p_body_digest, p_slice);
end;
$$;
