-- name=value, name!=value, name>5 as one word: the query that was meant, or null.
create function logloom_private.query_meant_comparison(p_token text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts constant text[] := regexp_match(
    p_token,
    '^(@?[[:alpha:]_](?:[[:alnum:]_.@-]*[[:alnum:]_])?)(===?|!=|<>|=~|!~|>=|<=|=|>|<)([^=].*)$'
  );
  v_name text;
  v_is_not constant boolean := v_parts[2] in ('!=', '<>', '!~');
  v_value constant text := regexp_replace(v_parts[3], '^''(.*)''$', '\1');
begin
  if v_parts is null then
    return null;
  end if;
  v_name := case when v_parts[1] in ('earliest', 'latest') then 'ts'
    else logloom_private.query_meant_name(v_parts[1]) end;
  if v_parts[1] in ('earliest', 'latest') and v_parts[2] = '=' then
    return case v_parts[1] when 'earliest' then 'ts:>=' else 'ts:<' end || v_value;
  elsif v_parts[3] ~* '^null$' then
    return case when v_is_not then '' else '-' end || v_name || ':*';
  end if;
  return case when v_is_not then '-' else '' end || v_name || ':'
    || case
      when v_parts[2] in ('=~', '!~') then '~"' || replace(v_value, '"', '\"') || '"'
      when v_parts[2] in ('>', '>=', '<', '<=') then v_parts[2] || v_value
      when v_value ~ '^[[:alnum:]_./*?-]+$' then v_value
      else '"' || regexp_replace(v_value, '(["\\])', '\\\1', 'g') || '"'
    end;
end;
$$;
