-- Limits of the compiler, and excerpts for its messages.

-- Returns the beginning of a text, to quote it in a message.
create function logloom_private.query_excerpt(p_text text)
returns text
language sql
immutable
return '"' || left(p_text, 40) || case when char_length(p_text) > 40 then '…' else '' end || '"';

-- Counts steps: tokens, rules, terms, parts of a regex. Every loop of the compiler counts its
-- steps, so their limit bounds the cost of any query.
create function logloom_private.query_spend(
  p_state logloom_private.query_state,
  p_steps integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state.steps := p_state.steps + p_steps;
  if p_state.steps > 20000 then
    perform logloom_private.refuse_at(
      p_state.positions[least(p_state."at", cardinality(p_state.positions))], 'query.too_many_steps'
    );
  end if;
  return p_state;
end;
$$;

create function logloom_private.query_count_leaf(
  p_state logloom_private.query_state,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state.leaves >= 64 then
    perform logloom_private.refuse_at(p_position, 'query.too_many_terms');
  end if;
  p_state.leaves := p_state.leaves + 1;
  return p_state;
end;
$$;

-- Counts the depth of brackets and NOTs.
create function logloom_private.query_deepen(
  p_state logloom_private.query_state,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state.depth >= 16 then
    perform logloom_private.refuse_at(p_position, 'query.nested_too_deep');
  end if;
  p_state.depth := p_state.depth + 1;
  return p_state;
end;
$$;

-- Adds up the lengths of texts to search for, because a search takes longer for a longer text.
create function logloom_private.query_count_searched(
  p_state logloom_private.query_state,
  p_text text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state.searched := p_state.searched + char_length(p_text);
  if p_state.searched > 512 then
    perform logloom_private.refuse_at(p_position, 'query.searched_texts_are_too_long');
  end if;
  return p_state;
end;
$$;
