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
  v_name constant text := p_field ->> 'name';
  v_parts constant text[] := regexp_match(
    p_token, '^([^",;\\]+)[,;]+(@?[[:alpha:]_][[:alnum:]_.@]*:.+)?$'
  );
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  if p_position = (p_state.warnings -> -1 ->> 'position')::integer then
    return p_state;
  elsif p_sign = '=' then
    -- A second =, or a comparison of another language.
    if p_token ~ '^=+[^=]' then
      v_message := 'The second = is read as part of the value';
      v_suggestion := format('%s:=%s', v_name, ltrim(p_token, '='));
    elsif p_token ~ '^[<>].' then
      v_message := format('%s is read as a value: write > or < before =', p_token);
      v_suggestion := format('%s:%s=%s', v_name, left(p_token, 1), substr(p_token, 2));
    end if;
  elsif left(p_token, 1) = '"' and not logloom_private.query_is_escaped_in_vain(p_token) then
    return p_state;
  elsif p_token ~* '^!=*null$' then
    v_message := 'null is read as a text: write field:* for any value';
    v_suggestion := v_name || ':*';
  elsif p_token = 'in' and p_state.texts[p_state."at" + 1] = '('
    and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
  then
    v_message := 'in is read as a value, and its brackets as more terms';
    v_suggestion := v_name || ':(' || regexp_replace(
      array_to_string(
        p_state.texts[p_state."at" + 2:array_position(p_state.texts, ')', p_state."at") - 1], ' '
      ),
      '\s*,\s*', ' OR ', 'g'
    ) || ')';
  elsif p_token ~ '^!=*.' then
    v_message := format('%s is read as a value: negate with - before the field', p_token);
    v_suggestion := format('-%s:%s', v_name, regexp_replace(p_token, '^!=*', ''));
  elsif p_token ~* '^null$' then
    v_message := 'null is read as a text: write -field:* for a missing value';
    v_suggestion := format('-%s:*', v_name);
  elsif v_parts is not null then
    v_message := format('A comma does not separate terms: %s is read as one value', p_token);
    v_suggestion := concat_ws(' ', v_name || ':' || v_parts[1], v_parts[2]);
  elsif (p_field ->> 'field') in ('service', 'env', 'host')
    and p_token ~ '^[^,\\]+(?:,[^,\\]+)+$'
  then
    v_message := 'A comma does not separate values: this is one value';
    v_suggestion := format('%s:(%s)', v_name, replace(p_token, ',', ' OR '));
  elsif p_field ->> 'field' = 'attrs' and p_token ~* '^[1-5]xx$' then
    v_message := format('%s is read as a text: write a range of numbers', p_token);
    v_suggestion := format('%s:[%s00 TO %2$s99]', v_name, left(p_token, 1));
  elsif p_field ->> 'field' = 'attrs'
    and p_token ~ '^[0-9]{1,6}(?:\.[0-9]+)?(?:-|\.\.)[1-9][0-9]{0,5}(?:\.[0-9]+)?$'
    and substring(p_token from '^[0-9]+')::integer
      < substring(p_token from '(?:-|\.\.)([0-9]+)')::integer
  then
    v_message := format('%s is read as a text: write a range of numbers', p_token);
    v_suggestion := format('%s:[%s]', v_name, regexp_replace(p_token, '-|\.\.', ' TO '));
  elsif p_token ~ '^%[^%]+%$|^\.\*[^.]+(?:\.\*)?$' then
    v_message := format('%s is read as a text: the wildcard is *', p_token);
    v_suggestion := v_name || ':' || translate(p_token, '%.', '*');
  else
    v_trap := logloom_private.query_word_trap(p_state, p_token);
    v_message := v_trap[1];
    v_suggestion := v_name || ':' || v_trap[2];
  end if;
  if v_suggestion is null then
    return p_state;
  end if;
  return logloom_private.query_warn(p_state, p_position, v_message, v_suggestion);
end;
$$;
