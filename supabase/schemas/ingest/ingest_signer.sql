-- Returns the digest of the API key that signed a message. p_signature is the message's HMAC-SHA256
-- with the hex digest of the key. Nobody can sign without the digest, so nobody learns a new
-- digest. Raises PT401 if the signature is wrong or the key does not exist.
create function logloom_private.digest_of_signer(
  p_key_id uuid,
  p_signature text,
  p_message bytea
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role reads no digests
declare
  v_digest constant text := (
    select encode(k.key_digest, 'hex') from logloom.api_keys k where k.key_id = p_key_id
  );
  v_signature constant text :=
    encode(extensions.hmac(p_message, convert_to(v_digest, 'UTF8'), 'sha256'), 'hex');
begin
  -- Compares digests, so the time of the comparison reveals nothing about the right signature.
  if (sha256(convert_to(v_signature, 'UTF8')) = sha256(convert_to(p_signature, 'UTF8'))) is not true
  then
    perform logloom_private.refuse('callers.signature_is_wrong');
  end if;
  return v_digest;
end;
$$;

create function public.ingest_signer(
  p_key_id uuid default null,
  p_signature text default null,
  p_message text default null
)
returns json
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
begin
  perform
    logloom_private.require_parameter('p_key_id', p_key_id is null),
    logloom_private.require_parameter('p_signature', p_signature is null),
    logloom_private.require_parameter('p_message', p_message is null);
  return to_json(
    logloom_private.digest_of_signer(p_key_id, p_signature, decode(p_message, 'base64'))
  );
end;
$$;

comment on function public.ingest_signer(uuid, text, text) is
  'For the edge function ingest: who signed a message with the hex SHA-256 of an API key. '
  'p_signature: HMAC-SHA256 as hex. p_message: in base64. Returns the digest of the key. The key '
  'may be revoked or expired. Errors: PT400, PT401.';
