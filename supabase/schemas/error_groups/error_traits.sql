-- What these functions read from an error decides its group. They know the attributes of Sentry,
-- pino, winston, OpenTelemetry and the Elastic Common Schema, flat or nested.

-- Returns attrs if one of these names is in it, else null, so that most attrs are read only once.
create function logloom_private.error_attrs(p_attrs jsonb)
returns jsonb
language sql
immutable
parallel safe
return case when p_attrs ?| array[
  'error', 'err', 'exception', 'error.type', 'error.name', 'error.stack', 'error.stack_trace',
  'err.name', 'err.stack', 'exception.type', 'exception.stacktrace', 'stack', 'stacktrace',
  'stack_trace', 'release', 'version', 'service', 'service.version', 'user', 'user.id', 'userId',
  'enduser.id', 'usr', 'kind'
] then p_attrs end;

-- The type of an error: an attribute, or the first word of the message before a colon.
create function logloom_private.error_type(p_msg text, p_attrs jsonb)
returns text
language sql
immutable
parallel safe
return left(coalesce(
  nullif(coalesce(
    p_attrs #>> '{error,type}', p_attrs ->> 'error.type', p_attrs #>> '{exception,type}',
    p_attrs ->> 'exception.type', p_attrs #>> '{err,name}', p_attrs ->> 'err.name',
    p_attrs #>> '{err,type}', p_attrs #>> '{error,name}', p_attrs ->> 'error.name'
  ), ''),
  substring(left(p_msg, 102) from '^([A-Za-z_][A-Za-z0-9_.$]*): ')
), 100);

-- The stack trace of an error: an attribute, or else a message of several lines.
create function logloom_private.error_stack(p_msg text, p_attrs jsonb)
returns text
language sql
immutable
parallel safe
return left(coalesce(
  p_attrs #>> '{error,stack}', p_attrs ->> 'error.stack', p_attrs #>> '{err,stack}',
  p_attrs ->> 'err.stack', p_attrs #>> '{exception,stacktrace}',
  p_attrs ->> 'exception.stacktrace', p_attrs #>> '{error,stack_trace}',
  p_attrs ->> 'error.stack_trace', p_attrs ->> 'stack', p_attrs ->> 'stacktrace',
  p_attrs ->> 'stack_trace', case when strpos(p_msg, E'\n') > 0 then p_msg end
), 8000);

-- The release of the program that sent the record.
create function logloom_private.release_of(p_attrs jsonb)
returns text
language sql
immutable
parallel safe
return left(nullif(coalesce(
  p_attrs ->> 'release', p_attrs ->> 'service.version', p_attrs #>> '{service,version}',
  p_attrs ->> 'version'
), ''), 200);

-- The hash of the user whom the error touched.
create function logloom_private.error_user(p_user_id text, p_attrs jsonb)
returns bigint
language sql
immutable
parallel safe
return hashtextextended(coalesce(
  p_user_id, p_attrs #>> '{user,id}', p_attrs ->> 'user.id', p_attrs ->> 'userId',
  p_attrs ->> 'enduser.id', p_attrs #>> '{usr,id}'
), 0);

-- The first line of a message, after a first quick replacement (rough_shape).
create function logloom_private.error_shape(p_msg text)
returns text
language sql
immutable
parallel safe
return logloom_private.rough_shape(split_part(left(p_msg, 300), E'\n', 1));

-- Replaces what varies in the first line of a message (error_shape): numbers, ids, times,
-- addresses, quoted texts and email addresses.
create function logloom_private.error_template(p_shape text)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_template text := logloom_private.shape(p_shape);
begin
  if v_template ~ '["''`]' then
    v_template := regexp_replace(v_template, '"[^"]*"|`[^`]*`|(?<!\w)''[^'']*''(?!\w)', '<*>', 'g');
  end if;
  if strpos(v_template, '@') > 0 then
    v_template := regexp_replace(v_template, '[^\s@,;:<>()]+@[\w-]+[.][\w.-]+', '<*>', 'g');
  end if;
  return left(v_template, 200);
end;
$$;

-- Returns the frames of a stack trace, the innermost first. Knows the forms of JavaScript, Java,
-- .NET, Python, Go, Ruby, PHP and Rust. is_own: not of a runtime or a library.
create function logloom_private.stack_frames(p_stack text)
returns table (line text, is_own boolean, n bigint)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    s.line,
    s.line !~ (
      '(node_modules|node:|/deno:|ext:|site-packages|dist-packages|/lib/python|<frozen |/gems/|'
      '/ruby/|/vendor/|/usr/local/go/|/usr/lib/go|/go/pkg/mod/|/rustc/|/.cargo/|<anonymous>$|'
      'internal/(process|modules|timers)|//(esm[.]sh|deno[.]land|jsr[.]io|cdn[.]))'
    )
    and s.line !~ (
      '^at (java|javax|jdk|sun|jakarta|kotlin|scala|org[.]springframework|org[.]apache|'
      'org[.]hibernate|System|Microsoft)[./]'
    ),
    -- Python writes the innermost call last.
    row_number() over (order by case when p_stack like '%Traceback (most%' then -s.n else s.n end)
  from (
    select left(btrim(l.line, E' \t\r'), 300) as line, l.n
    from regexp_split_to_table(left(p_stack, 8000), E'\n') with ordinality l (line, n)
    where l.line ~ (
      '^\s*at |^\s*File ".*", line \d|^#\d+ .*[(]\d+[)]: |^\s*\S+[.](go|rb|php):\d+'
      '|^\s*[^\s@]*@\S+:\d+:\d+$'
    )
  ) s;
end;
$$;

-- Returns the place of an error: the first three frames of own code, or else of any. Leaves out
-- lines, columns, hashes of builds and addresses. Null if the text has no frames.
create function logloom_private.error_place(p_stack text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    with frames as materialized (
      select f.* from logloom_private.stack_frames(p_stack) f
    ), places as (
      select btrim(regexp_replace(
        regexp_replace(
          f.line, '[?#][^:) ]*|[.-][0-9A-Za-z_]*[0-9][0-9A-Za-z_]{6,}(?=[.])', '', 'g'
        ),
        ':\d+(:\d+)?|, line \d+|[(]\d+[)]| [+]0x[0-9a-f]+|0x[0-9a-f]+|\d+', '', 'g'
      )) as place, f.n
      from frames f
      where f.is_own or not exists (select from frames o where o.is_own)
      order by f.n
      limit 3
    )
    select string_agg(p.place, E'\n' order by p.n) from places p
  );
end;
$$;

-- Returns the fingerprint of a record: 16 hexadecimal digits that name its group. p_place:
-- error_place of its stack. p_template: the template of its message, used only without a place.
create function logloom_private.error_fingerprint(
  p_service text,
  p_error_type text,
  p_place text,
  p_template text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return left(encode(sha256(convert_to(
    jsonb_build_array(
      p_service, p_error_type, p_place, case when p_place is null then p_template end
    )::text, 'UTF8'
  )), 'hex'), 16);
end;
$$;

-- The title of a group: never a message, because messages may name a person.
create function logloom_private.error_title(p_error_type text, p_template text)
returns text
language sql
immutable
return left(case
  when p_template = '' or p_template is null then coalesce(p_error_type, 'Error without a message')
  when p_error_type is null or starts_with(p_template, p_error_type || ':') then p_template
  else p_error_type || ': ' || p_template
end, 300);

-- How many hashes of users a group keeps. Above this number, the number of users is estimated with
-- a standard error of 6 %.
create function logloom_private.error_users_kept()
returns integer
language sql
immutable
return 256;

create function logloom_private.error_users(p_users bigint[])
returns bigint
language sql
immutable
return case
  when cardinality(p_users) < logloom_private.error_users_kept() then cardinality(p_users)
  -- The hashes are spread over 2^64 numbers that begin at -2^63.
  else round(
    (cardinality(p_users) - 1)
      / ((p_users[cardinality(p_users)]::numeric + 9223372036854775808) / 18446744073709551616)
  )
end;
