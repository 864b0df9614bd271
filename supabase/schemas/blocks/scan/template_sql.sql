-- A leaf over messages as SQL over the alias l: msg is a template, folded the same in lower case.
create function logloom_private.template_sql(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_template constant jsonb := p_leaf -> 'template';
  v_literal constant text := v_template ->> 'literal';
  v_text constant text :=
    case when (p_leaf -> 'folds_case')::boolean then 'l.folded' else 'l.msg' end;
  v_sql constant text := logloom_private.query_text_test(
    jsonb_build_object('test', v_template ->> 'by', 'values', v_template -> 'values'), v_text
  );
begin
  return case
    when v_template ->> 'by' = 'exists' then '(' || v_text || ' is not null)'
    -- A plain text is found far quicker.
    when v_template ->> 'by' = 'regex' and v_literal <> '' then format(
      'case when strpos(%s, %L) > 0 then ', v_text, v_literal
    ) || v_sql || ' else false end'
    else '(' || v_sql || ')'
  end;
end;
$$;
