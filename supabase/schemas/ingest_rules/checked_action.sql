-- Lists what actions need: a condition that must hold, and the error's text. $fields: the fields
-- that have a text. $what: the detectors.
create function logloom_private.action_needs()
returns table (type text, holds jsonpath, needs text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Logloom itself sets logloom_… and sample_rate, so rules may not.
  v_name constant text := '(%1$s like_regex "^[^[:cntrl:]]{1,200}$" && '
    '!(%1$s starts with "logloom_") && %1$s != "sample_rate")';
  -- Checks the type, because a comparison alone would also look into an array.
  v_target constant text := '(%1$s.f.type() == "string" && %1$s.f == $fields[*] && !exists(%1$s.a)'
    ' || %1$s.a.type() == "string" && ' || replace(v_name, '%1$s', '%1$s.a')
    || ' && !exists(%1$s.f))';
  v_targets constant text := 'a field ("f": not ts) or an attribute ("a": 1 to 200 characters, not '
    'logloom_… or sample_rate)';
begin
  return query
  select n.type, n.holds::jsonpath, n.needs
  from (
    values
      ('mask', '$.what.type() == "array" && !exists($.what[*].type() ? (@ != "string")) '
        '&& !exists($.what[*] ? (!(@ == $what[*])))',
        'what is an array of detectors: email, card, iban, jwt, ipv4, ipv6, bearer, aws_key, '
          'supabase_key, logloom_key, phone'),
      ('mask', '$.pattern.type() == "string" || $.pattern == null && exists($.what[*])',
        'a mask needs what or a pattern'),
      ('mask', '$.label.type() == "string" && $.label like_regex "^[a-z][a-z0-9_]{0,29}$"',
        'label has small letters, digits and _, at most 30'),
      ('mask', '$.hash.type() == "boolean"', 'hash is true or false'),
      ('mask', '$.in == "everywhere" || $.in.type() == "object" && exists($.in.*[*]) && '
        '!exists($.in.keyvalue() ? (@.key != "fields" && @.key != "attrs" || '
        '@.value.type() != "array" || @.value.size() > 50)) && '
        '!exists($.in.*[*].type() ? (@ != "string")) && '
        '!exists($.in.fields[*] ? (@ == "level" || !(@ == $fields[*]))) && '
        '!exists($.in.attrs[*] ? (!' || format(v_name, '@') || '))',
        'in is "everywhere" or {"fields": [...], "attrs": [...]} with a name, at most 50 each'),
      ('sample', '$.rate.type() == "number" && $.rate > 0 && $.rate < 1',
        'rate is a number above 0 and below 1'),
      ('sample', '$.by == "req_id" || $.by == "record"', 'by is req_id or record'),
      ('sample', '!exists($.keep) || $.keep.type() == "array" && $.keep.size() <= 5 '
        '&& !exists($.keep[*].type() ? (@ != "string")) && !exists($.keep[*] ? (@ == ""))',
        'keep is an array of at most five conditions'),
      ('parse', '$.pattern.type() == "string"', 'pattern is a text'),
      ('set', format(v_target, '$'), 'set needs ' || v_targets),
      ('set', '$.value.type() == "string" || '
        '!exists($.f) && ($.value.type() == "number" || $.value.type() == "boolean")',
        'value is a text, or for an attribute also a number or boolean'),
      ('set', '!($.f == "level") || $.value like_regex "^(?:debug|info|warn|error)$"',
        'value is one of debug, info, warn, error'),
      ('remove', format(v_target, '$'), 'remove needs ' || v_targets),
      ('level', '$.from.type() == "string" || ' || format(v_target, '$.from'),
        'from is a level, or has ' || v_targets)
  ) n (type, holds, needs);
end;
$$;

-- Checks the pattern of an action as patterns in queries are checked. Returns the problem, or null.
create function logloom_private.problem_of_pattern(p_action jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pattern constant text := p_action ->> 'pattern';
  v_parts jsonb;
begin
  if p_action ->> 'type' = 'mask' then
    v_parts := logloom_private.query_regex('"' || v_pattern || '"', 0);
    perform logloom_private.query_check_regexes(v_parts || jsonb_build_object(
      'test', 'regex', 'values', array[v_parts ->> 'pattern']
    ));
    return case when '' ~ (v_parts ->> 'pattern') or v_pattern ~ '^(?:[^\\]|\\.)*\\$'
      then 'pattern matches an empty text, or ends in a backslash' end;
  end if;
  v_parts := logloom_private.query_extract_parts(v_pattern, 1) -> 'names';
  return (
    select case
      when count(*) = 0 or count(distinct n) < count(*)
        or bool_or(n ~ '^(?:logloom_|sample_rate$)')
        then 'pattern names attributes, each once, none logloom_… or sample_rate: "<method> <path>"'
    end
    from jsonb_array_elements_text(v_parts) n
    where n <> ''
  );
end;
$$;

-- Checks an action and adds defaults for missing members. Raises PT400 if the action is invalid.
create function logloom_private.checked_action(p_action jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := p_action ->> 'type';
  v_members constant text[] := case v_type
    when 'mask' then '{type,what,pattern,label,in,hash}' when 'drop' then '{type}'
    when 'sample' then '{type,rate,by,keep}' when 'parse' then '{type,pattern}'
    when 'set' then '{type,f,a,value}' when 'remove' then '{type,a}'
    when 'level' then '{type,from}' end;
  v_level constant text := logloom_private.level_named(p_action ->> 'from');
  v_problem text;
begin
  if v_type = 'mask' then
    p_action :=
      '{"what": [], "pattern": null, "label": "custom", "hash": false}'::jsonb || p_action;
  elsif v_type = 'level' and v_level is not null then
    p_action := p_action || jsonb_build_object('from', v_level);
  end if;
  v_problem := case
    when octet_length(p_action::text) > 8000 then 'at most 8000 bytes'
    when v_members is null
      then 'type is one of mask, drop, sample, parse, set, remove, level'
    when p_action - v_members <> '{}' then format('%s takes %s', v_type, v_members)
    when jsonb_typeof(p_action -> 'from') = 'string' and v_level is null then 'from is no level'
    else (
      select min(n.needs)
      from logloom_private.action_needs() n
      where n.type = v_type
        and jsonb_path_match(p_action, n.holds, jsonb_build_object(
          'fields', logloom_private.query_text_columns(),
          'what', array(select d.name from logloom_private.mask_detectors() d)
        ), true) is not true
    )
  end;
  if v_problem is null and p_action ->> 'pattern' is not null then
    v_problem := logloom_private.problem_of_pattern(p_action);
  end if;
  if v_problem is not null then
    perform logloom_private.refuse('ingest_rules.action_is_invalid', v_problem);
  end if;
  return p_action;
end;
$$;
