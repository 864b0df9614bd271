-- Warns about a value without a sign, or after =. p_token is the current token, or one of a list.
create function logloom_private.query_warn_value(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign text,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_trap text;
begin
  v_trap := case
    -- A second =, or a comparison of another language.
    when p_sign = '=' and p_token ~ '^=+[^=]' then 'The second = is read as part of the value'
    when p_sign = '=' and p_token ~ '^[<>].'
      then format('%s is read as a value: write > or < before =', p_token)
    when p_sign = '='
      or left(p_token, 1) = '"' and not logloom_private.query_is_escaped_in_vain(p_token) then null
    when p_token ~* '^!=*null$' then 'null is read as a text: write field:* for any value'
    when p_token = 'in' and p_state.texts[p_state."at" + 1] = '('
      and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
      then 'in is read as a value, and its brackets as more terms'
    when p_token ~ '^!=*.'
      then format('%s is read as a value: negate with - before the field', p_token)
    when p_token ~* '^null$' then 'null is read as a text: write -field:* for a missing value'
    when p_token ~ '^[^",;\\]+[,;]+(?:@?[[:alpha:]_][[:alnum:]_.@]*:.+)?$'
      then format('A comma does not separate terms: %s is read as one value', p_token)
    when (p_field ->> 'field') in ('service', 'env', 'host') and p_token ~ '^[^,\\]+(?:,[^,\\]+)+$'
      then 'A comma does not separate values: this is one value'
    when p_field ->> 'field' = 'attrs' and (
      p_token ~* '^[1-5]xx$'
      or p_token ~ '^[0-9]{1,6}(?:\.[0-9]+)?(?:-|\.\.)[1-9][0-9]{0,5}(?:\.[0-9]+)?$'
        and substring(p_token from '^[0-9]+')::integer
          < substring(p_token from '(?:-|\.\.)([0-9]+)')::integer
    ) then format('%s is read as a text: write a range of numbers', p_token)
    when p_token ~ '^%[^%]+%$|^\.\*[^.]+(?:\.\*)?$'
      then format('%s is read as a text: the wildcard is *', p_token)
    when p_token ~ '^[[:alpha:]]+[~^][0-9.]*$'
      then p_token || ' is read as a text: there are no fuzzy or boosted terms'
    else logloom_private.query_word_trap(p_token) end;
  return logloom_private.query_warn(p_state, p_position, v_trap);
end;
$$;
