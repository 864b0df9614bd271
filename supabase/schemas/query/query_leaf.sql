-- Makes a leaf of the tree: a field, its test, and how the test can be answered.
--   decided_by   how a block answers it: run (service, level), dictionary (a column's values),
--                numbers (a column of whole numbers), template (messages), or filter (each record)
--   rows_index   true if an index of the rows, or one short column, may answer it
--   block_quick  true if a block answers it without the texts of its records. For an attribute this
--                needs a column of numbers.
--   template     only for the fields msg and any: the result of leaf_template
create function logloom_private.query_leaf(p_field jsonb, p_test jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field constant text := p_field ->> 'field';
  v_test constant text := p_test ->> 'test';
  v_folds constant boolean := coalesce((p_test -> 'folds_case')::boolean, false);
  v_decided_by constant text := case
    when v_field in ('service', 'level') then 'run'
    when v_field in ('msg', 'any') then 'template'
    when v_field in ('id', 'ts', 'received_at') then 'filter'
    when v_field = 'attrs' and v_test = 'range' and p_test -> 'bounds' ->> 'unit' is null
      then 'numbers'
    else 'dictionary'
  end;
begin
  return p_field || p_test || jsonb_build_object(
    'type', 'leaf',
    'folds_case', v_folds,
    'decided_by', v_decided_by,
    'rows_index',
    v_field not in ('attrs', 'any') and v_test in ('equal', 'exists', 'within', 'range'),
    'block_quick', case v_field
      when 'ts' then true
      when 'msg' then v_test in ('equal', 'exists', 'contains')
      when 'attrs' then jsonb_array_length(p_field -> 'path') = 1
      else v_decided_by = 'run'
        or v_decided_by = 'dictionary' and v_test in ('equal', 'exists') and not v_folds
    end
  ) || case when v_decided_by = 'template' then jsonb_build_object(
    'template', logloom_private.leaf_template(v_test, p_test -> 'values')
  ) else '{}' end;
end;
$$;

-- Returns the fields that a tree or plan reads; attributes as attrs.KEY.
create function logloom_private.query_reads(p_node jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select distinct (r #>> '{}') collate "C"
    from jsonb_path_query(p_node, 'strict $.**.reads[*]') r
    order by 1
  );
end;
$$;
