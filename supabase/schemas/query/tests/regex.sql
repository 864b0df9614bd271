-- field:~"regex". values: the regular expression in PostgreSQL's dialect; size and position: for
-- query_check_regexes.

create function logloom_private.query_check_regex(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_regex jsonb;
begin
  if (p_field ->> 'field') in ('ts', 'received_at', 'id') then
    perform logloom_private.refuse_at(
      p_position,
      case p_field ->> 'field' when 'id' then 'query.id_takes_no_regex'
        else 'query.time_takes_no_regex' end,
      p_field ->> 'field'
    );
  end if;
  v_regex := logloom_private.query_regex(p_token, p_position);
  p_state := logloom_private.query_spend(p_state, (v_regex -> 'steps')::integer);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'regex', 'values', array[v_regex ->> 'pattern'], 'folds_case', v_regex -> 'fold',
    'size', v_regex -> 'size', 'position', v_regex -> 'position'
  ));
  return p_state;
end;
$$;

-- Checks the regular expressions of a tree together: what compiling them costs, and that
-- PostgreSQL takes each, so that it refuses none in the middle of a search.
create function logloom_private.query_check_regexes(p_tree jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf jsonb;
  v_size integer := 0;
begin
  for v_leaf in
    select l from jsonb_path_query(p_tree, 'strict $.** ? (@.test == "regex")') l
  loop
    v_size := v_size + (v_leaf -> 'size')::integer;
    begin
      if v_size > 2000 or '' collate "C" ~ (v_leaf -> 'values' ->> 0) is null then
        raise invalid_regular_expression;
      end if;
    exception when invalid_regular_expression then
      perform logloom_private.refuse_at(
        (v_leaf -> 'position')::integer, 'regex.all_are_too_complex'
      );
    end;
  end loop;
end;
$$;
