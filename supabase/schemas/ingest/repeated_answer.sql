-- The first answer to an Idempotency-Key, or to a slice of its request; null where there is none.
-- PT409 where the body was another.
create function logloom_private.repeated_answer(
  p_state logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest text,
  p_slice integer
)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known logloom_private.idempotency_keys;
begin
  select k.* into v_known
  from logloom_private.idempotency_keys k, logloom_private.settings s
  where k.tenant_id = p_state.tenant_id and k.idempotency_key = p_idempotency_key
    and k.created_at >= now() - s.idempotency_key_lifetime;
  if v_known.body_digest <> decode(p_body_digest, 'hex') then
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
