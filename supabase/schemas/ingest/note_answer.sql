-- Keeps the answer to a request, or adds that to one of its slices to the one row of the request,
-- without its errors. Null; where another was quicker, its answer. PT409 where the body was
-- another.
create function logloom_private.note_answer(
  p_state logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest text,
  p_slice integer,
  p_response json
)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_expired constant timestamptz :=
    now() - (select s.idempotency_key_lifetime from logloom_private.settings s);
begin
  -- A second request with this key waits here for the first one's commit.
  insert
    into logloom_private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
  values (
    p_state.tenant_id, p_idempotency_key, decode(p_body_digest, 'hex'),
    case
      when p_slice is null then p_response
      else json_build_object(p_slice::text, p_response::jsonb - 'errors')
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
  return logloom_private.repeated_answer(p_state, p_idempotency_key, p_body_digest, p_slice);
end;
$$;
