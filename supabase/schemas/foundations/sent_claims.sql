-- The claims as the token of an Authorization header says them, before PostgREST reads them. Empty,
-- which is nobody's, where they are no JSON object or two members of one have the same name; null
-- where the header holds no token of three parts. Its signature is PostgREST's to verify.
create function logloom_private.sent_claims(p_authorization text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part constant text := split_part(p_authorization, '.', 2);
  v_text text;
begin
  if split_part(p_authorization, '.', 3) = '' or split_part(p_authorization, '.', 4) <> '' then
    return null;
  end if;
  v_text := convert_from(
    decode(
      rpad(translate(v_part, '-_', '+/'), (length(v_part) + 3) / 4 * 4, '='), 'base64'
    ),
    'UTF8'
  );
  -- Of two members of one name PostgREST takes the first, others the last.
  if v_text is json object with unique keys then
    return v_text::jsonb;
  end if;
  return '{}';
exception when data_exception or character_not_in_repertoire then
  return '{}';
end;
$$;
