-- The query for the records that a rule counted: without its aggregate and, where a group is given,
-- only of that. Null where there is none that says so.
create function logloom_private.records_query(p_query_dsl text, p_group jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query := logloom_private.compile_query(p_query_dsl);
  v_state logloom_private.query_state;
  v_bar integer;
  v_text text := p_query_dsl;
  v_group text;
begin
  if v_query.aggregate is not null then
    v_state := logloom_private.query_tokenize(p_query_dsl, now());
    select max(t.position) into v_bar
    from unnest(v_state.texts, v_state.positions) t (text, position)
    where t.text = '|';
    v_text := left(p_query_dsl, v_bar - 1);
  end if;
  v_text := coalesce(nullif(logloom_private.trim_space(v_text), ''), '*');
  if p_group is null then
    return v_text;
  end if;
  select string_agg(
    case
      when p_group ->> f is null then '-' || f || ':*'
      when f = 'level' then f || ':' || (p_group ->> f)
      else f || ':="' || replace(replace(p_group ->> f, '\', '\\'), '"', '\"') || '"'
    end, ' ' order by n
  )
  into v_group
  from unnest(v_query.by_fields) with ordinality b (f, n);
  v_text := v_text || ' | where ' || v_group;
  perform logloom_private.compile_query(v_text);
  return v_text;
exception when sqlstate 'PT400' then
  return null;
end;
$$;

-- A text as it stands in an address.
create function logloom_private.percent_encoded(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(string_agg(
      case
        when c.bytes ~ '^[A-Za-z0-9_.~-]$' then c.bytes
        else regexp_replace(
          upper(encode(convert_to(c.bytes, 'UTF8'), 'hex')), '(..)', '%\1', 'g'
        )
      end, '' order by c.n
    ), '')
    from regexp_split_to_table(p_text, '') with ordinality c (bytes, n)
  );
end;
$$;
