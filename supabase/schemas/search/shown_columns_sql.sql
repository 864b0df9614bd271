-- The attributes that p_fields name, nested as they were; null where none is there.
create function logloom_private.pick_attrs(p_attrs jsonb, p_fields jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field jsonb;
  v_path text[];
  v_key text;
  v_value jsonb;
  v_picked jsonb := '{}';
begin
  for v_field in select f from jsonb_array_elements(p_fields) f loop
    v_value := p_attrs;
    v_path := array(select jsonb_array_elements_text(v_field -> 'path'));
    foreach v_key in array v_path loop
      v_value := v_value -> v_key;
    end loop;
    if coalesce(v_value, 'null') <> 'null' then
      for v_depth in 1..cardinality(v_path) - 1 loop
        if jsonb_typeof(v_picked #> v_path[1:v_depth]) is distinct from 'object' then
          v_picked := jsonb_set(v_picked, v_path[1:v_depth], '{}');
        end if;
      end loop;
      v_picked := jsonb_set(v_picked, v_path, v_value);
    elsif p_attrs ? (v_field ->> 'joined') then
      v_picked := v_picked || jsonb_build_object(
        v_field ->> 'joined', p_attrs -> (v_field ->> 'joined')
      );
    end if;
  end loop;
  return nullif(v_picked, '{}');
end;
$$;

-- A record of the alias l, column after column, of which fields (null: all) are shown. id,
-- tenant_id and ts always are: they name the record.
create function logloom_private.shown_columns_sql(p_fields jsonb default null)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attrs constant jsonb := jsonb_path_query_array(p_fields, '$[*] ? (@.field == "attrs")');
begin
  return (
    select string_agg(
      case
        when f.name = 'attrs' and jsonb_array_length(v_attrs) > 0
          then 'logloom_private.pick_attrs(l.attrs, ' || quote_literal(v_attrs) || ')'
        when p_fields is null or f.name in ('id', 'tenant_id', 'ts')
          or f.name <> 'attrs'
          and p_fields @> jsonb_build_array(jsonb_build_object('field', f.name))
          then 'l.' || f.name
        else 'null::' || f.type
      end,
      ', ' order by f.shown
    )
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null
  );
end;
$$;
