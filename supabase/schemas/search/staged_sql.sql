-- Builds the SQL of the attributes that a stage extracts from a text.
create function logloom_private.extraction_sql(p_stage jsonb, p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_stage ->> 'stage'
    when 'extract' then format(
      'logloom_private.extract_pattern(%s, %L::text[], %L::text[])', p_text,
      array(select jsonb_array_elements_text(p_stage -> 'literals')),
      array(select jsonb_array_elements_text(p_stage -> 'names'))
    )
    when 'extract_regexp' then format(
      'logloom_private.extract_regexp(%s, %L, %L::text[], %L)', p_text,
      p_stage ->> 'pattern', array(select jsonb_array_elements_text(p_stage -> 'names')),
      p_stage ->> 'fold'
    )
    else format('logloom_private.extract_%s(%s)', p_stage ->> 'stage', p_text)
  end;
end;
$$;

-- Builds a source of the records of p_rows after the stages that extract and the stage "where".
-- Reading more than search_stage_records records raises PT400.
create function logloom_private.staged_sql(
  p_query logloom_private.compiled_query,
  p_rows logloom_private.sql_source
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bound constant integer := (
    select s.search_stage_records from logloom_private.settings s
  );
  v_columns constant text := (
    select string_agg('l.' || f.name, ', ')
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null and f.name <> 'attrs'
  );
  v_sql text;
  v_stage jsonb;
begin
  if coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    return p_rows;
  end if;
  p_rows.max_rows := least(p_rows.max_rows, v_bound + 1);
  v_sql := format(
    'select l.* from (select l.*, row_number() over () as read_as from (select l.* %s) l) l '
      || 'where l.read_as <= %s or logloom_private.refuse_stage_bound(%L, %2$s, ''records'')',
    logloom_private.source_sql(p_rows), v_bound, p_query.plan -> 'rows' -> 0 ->> 'stage'
  );
  for v_stage in select s from jsonb_array_elements(p_query.plan -> 'rows') s loop
    if v_stage ->> 'stage' = 'where' then
      v_sql := 'select l.* from (' || v_sql || ') l where '
        || logloom_private.query_sql(v_stage -> 'tree', 'l');
    else
      -- Because of "offset 0" each record is extracted once. Existing attributes are not replaced.
      v_sql := format(
        'select %s, coalesce(nullif(%s, ''{}'') '
          || '|| coalesce(l.attrs, ''{}''), l.attrs) as attrs, l.read_as from (%s) l offset 0',
        v_columns, logloom_private.extraction_sql(
          v_stage, logloom_private.query_group_sql(v_stage -> 'field', 'l')
        ), v_sql
      );
    end if;
  end loop;
  return logloom_private.rows_from('(' || v_sql || ') l');
end;
$$;
