-- How a key of attrs is stored in files: as a column of its own where it is among the 24 that most
-- records have, of the type that all of its values are without loss: string, integer, number or
-- boolean, else json, whose values are JSON texts.
create function logloom_private.archive_key_kind(
  p_strings bigint,
  p_integers bigint,
  p_numbers bigint,
  p_booleans bigint,
  p_values bigint
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_values
    when p_strings then 'string'
    when p_integers then 'integer'
    when p_numbers then 'number'
    when p_booleans then 'boolean'
    else 'json'
  end;
end;
$$;

-- The keys of attrs of records that get a column.
create function logloom_private.archive_keys(p_records logloom.logs[])
returns table (key text, kind text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
  return query
  select k.key, k.kind
  from (
    select distinct on (lower(u.key)) u.key, u.kind, u.values
    from (
      select
        a.key,
        count(*) as values,
        logloom_private.archive_key_kind(
          count(*) filter (where a.type = 'string'),
          -- Whole numbers that every reader has exactly.
          count(*) filter (where a.type = 'number' and a.text ~ '^(0|-?[1-9][0-9]{0,14})$'),
          -- Those that a number of 8 bytes has in the same digits.
          count(*) filter (
            where a.type = 'number'
              and a.text ~ '^(0|-?[1-9][0-9]{0,8})$|^-?(0|[1-9][0-9]{0,8})\.[0-9]{0,5}[1-9]$'
          ),
          count(*) filter (where a.type = 'boolean'),
          count(*)
        ) as kind
      from (
        select e.key, e.value::text as text, jsonb_typeof(e.value) as type
        from unnest(p_records) r, jsonb_each(r.attrs) e
      ) a
      -- A longer name is no name of a column.
      where octet_length(a.key) between 1 and 200
      group by a.key
    ) u
    -- Readers do not tell letters of another case apart.
    order by lower(u.key), u.values desc, u.key collate "C"
  ) k
  order by k.values desc, k.key collate "C"
  limit 24;
end;
$$;

-- Records as columns, in JSON: fields as answers show them, ts and received_at in microseconds
-- since 1970, attrs as an array for each of its keys with a column and the rest as texts.
create function logloom_private.archive_columns(p_records logloom.logs[])
returns json
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_keys text[] := '{}';
  v_columns text[] := '{}';
  v_key record;
  v_result json;
begin
  for v_key in select k.* from logloom_private.archive_keys(p_records) k loop
    v_keys := v_keys || v_key.key;
    v_columns := v_columns || format(
      'json_build_object(''key'', %1$L, ''kind'', %2$L, ''values'', json_agg(%3$s))',
      v_key.key, v_key.kind,
      case v_key.kind
        when 'string' then format('r.attrs ->> %L', v_key.key)
        when 'json' then format('(r.attrs -> %L)::text', v_key.key)
        else format('r.attrs -> %L', v_key.key)
      end
    );
  end loop;
  execute format(
    'select json_build_object(%s, ''attrs'', json_build_array(%s), ''rest'', '
      || 'json_agg((r.attrs - %L::text[])::text)) from unnest($1) r',
    (
      select string_agg(
        format(
          '%1$L, json_agg(%2$s)', f.name,
          case f.type
            when 'timestamptz' then format('(extract(epoch from r.%I) * 1000000)::bigint', f.name)
            else format('r.%I', f.name)
          end
        ),
        ', ' order by f.shown
      )
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null and f.name not in ('tenant_id', 'attrs')
    ),
    array_to_string(v_columns, ', '), v_keys
  )
  into v_result
  using p_records;
  return v_result;
end;
$$;
