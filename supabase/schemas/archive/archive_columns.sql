-- Returns the 24 most frequent keys of attrs. They get a column of their own in files. kind:
-- string, integer, number, exact or boolean, whichever holds all values of the key without loss.
-- exact is for an INT64 or DECIMAL, and its values are texts of digits. If no kind fits: json, with
-- JSON texts as values.
create function logloom_private.archive_keys(p_records logloom.logs[])
returns table (key text, kind text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
set extra_float_digits = 1
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
        case count(*)
          when count(*) filter (where a.type = 'string') then 'string'
          when count(*) filter (where scale(a.number) = 0 and a.is_double) then 'integer'
          when count(*) filter (where a.is_double) then 'number'
          when case
            when max(scale(a.number)) <= 37
              and max(abs(a.number)) < power(10::numeric, 38 - max(scale(a.number)))
              then count(*) filter (where scale(a.number) = min_scale(a.number))
          end then 'exact'
          when count(*) filter (where a.type = 'boolean') then 'boolean'
          else 'json'
        end as kind
      from (
        select
          n.*,
          -- True if every reader prints the 8-byte number with the same digits.
          case
            when abs(n.number) > 9007199254740991
              or scale(n.number) > least(min_scale(n.number), 60)
              then false
            -- A double keeps every number of up to 15 digits, so there is no need to convert it.
            when scale(n.number) = 0 or scale(n.number) <= 6 and abs(n.number) < 1000000000
              then true
            else n.number::double precision::text::numeric = n.number
          end as is_double
        from (
          select
            e.key, jsonb_typeof(e.value) as type,
            case jsonb_typeof(e.value) when 'number' then e.value::numeric end as number
          from unnest(p_records) r, jsonb_each(r.attrs) e
          -- "offset 0" computes each value once.
          offset 0
        ) n
        offset 0
      ) a
      -- A longer key cannot be the name of a column.
      where octet_length(a.key) between 1 and 200
      group by a.key
    ) u
    -- Readers ignore letter case in column names.
    order by lower(u.key), u.values desc, u.key collate "C"
  ) k
  order by k.values desc, k.key collate "C"
  limit 24;
end;
$$;

-- Returns records as columns, in JSON. ts and received_at are microseconds since 1970. Each key of
-- attrs with a column is an array; the rest of attrs are texts.
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
      format(
        case
          when v_key.kind in ('string', 'exact') then 'r.attrs ->> %L'
          when v_key.kind = 'json' then '(r.attrs -> %L)::text'
          else 'r.attrs -> %L'
        end,
        v_key.key
      )
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
