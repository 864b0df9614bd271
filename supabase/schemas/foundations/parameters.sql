create function logloom_private.require_parameter(p_name text, p_is_missing boolean)
returns void
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_is_missing then
    raise sqlstate 'PT400' using
      message = 'Missing required parameter: ' || p_name,
      hint = format('Send %s in the JSON body.', p_name);
  end if;
end;
$$;

revoke all on function logloom_private.require_parameter(text, boolean) from public;

comment on function logloom_private.require_parameter(text, boolean) is
  'PT400 when a required parameter is missing. Parameters default to null so that this text '
  'answers, not PostgREST''s 404.';

grant execute on function logloom_private.require_parameter(text, boolean)
to authenticated, service_role;

create function logloom_private.trim_space(p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return regexp_replace(p_text, '^[[:space:]]+|[[:space:]]+$', '', 'g');
end;
$$;

revoke all on function logloom_private.trim_space(text) from public;

comment on function logloom_private.trim_space(text) is 'The text without white space at its ends.';

grant execute on function logloom_private.trim_space(text) to authenticated, service_role;

create function logloom_private.refuse_violation(p_table text, p_constraint text)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_comment text;
begin
  select obj_description(c.oid, 'pg_constraint') into v_comment
  from pg_catalog.pg_constraint c
  where c.conrelid = format('logloom.%I', p_table)::regclass and c.conname = p_constraint;
  raise sqlstate 'PT400' using
    message = split_part(v_comment, E'\n', 1),
    hint = split_part(v_comment, E'\n', 2);
end;
$$;

revoke all on function logloom_private.refuse_violation(text, text) from public;

comment on function logloom_private.refuse_violation(text, text) is
  'PT400 for a check constraint of a table in app. A constraint says the rule; its comment says '
  'in its first line what is wrong, in its second how to mend it.';

grant execute on function logloom_private.refuse_violation(text, text)
to authenticated, service_role;

create function logloom_private.list_limit(p_limit integer)
returns integer
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because the API roles do not read logloom_private.settings
declare
  v_max integer;
  v_default integer;
begin
  select s.list_limit_max, s.list_limit_default into v_max, v_default
    from logloom_private.settings s;
  if p_limit < 1 or p_limit > v_max then
    raise sqlstate 'PT400' using
      message = format('Invalid p_limit: 1 to %s', v_max),
      hint = 'Page with p_after for more.';
  end if;
  return coalesce(p_limit, v_default);
end;
$$;

revoke all on function logloom_private.list_limit(integer) from public;

comment on function logloom_private.list_limit(integer) is
  'The page size of a list: p_limit, or the default where it is null. PT400 when out of bounds.';

grant execute on function logloom_private.list_limit(integer)
to authenticated, service_role;

create function logloom_private.page_place(p_at timestamptz, p_what text, p_id text)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_at is null then
    raise sqlstate 'PT400' using
      message = 'Invalid p_after: no such ' || p_what,
      hint = format('Send the %s of the last item of the page before.', p_id);
  end if;
  return p_at;
end;
$$;

revoke all on function logloom_private.page_place(timestamptz, text, text) from public;

comment on function logloom_private.page_place(timestamptz, text, text) is
  'Where the page after an item begins: the item''s time. PT400 where the list has no such item, '
  'p_what being what the list holds and p_id the name of its id.';

grant execute on function logloom_private.page_place(timestamptz, text, text)
to authenticated, service_role;

-- The words of a query's times (query_time) mean the same here, so that a range can be told either
-- way.
create function logloom_private.time_parameter(p_name text, p_text text)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_text constant text := logloom_private.trim_space(p_text);
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
begin
  if v_text is null then
    return null;
  elsif v_text = 'now' then
    return now();
  elsif v_shift is not null then
    v_seconds := v_shift[1]::numeric * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) <= 3155760000 then
      return now() + make_interval(secs => v_seconds);
    end if;
  elsif v_text ~ '^[0-9-]' and pg_input_is_valid(v_text, 'timestamptz') then
    return v_text::timestamptz;
  end if;
  raise sqlstate 'PT400' using
    message = 'Invalid ' || p_name || ': not a time',
    hint = 'Send ISO 8601, such as 2026-11-21T10:00:00Z, or now, now-15m, now-24h (s, m, h, d or '
      'w; at most 100 years).';
end;
$$;

revoke all on function logloom_private.time_parameter(text, text) from public;

comment on function logloom_private.time_parameter(text, text) is
  'The instant that a parameter names: ISO 8601 (UTC where it names no zone), or now with a shift. '
  'Null stays null. PT400 for anything else.';

grant execute on function logloom_private.time_parameter(text, text)
to authenticated, service_role;
