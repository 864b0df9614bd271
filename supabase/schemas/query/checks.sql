-- The checker: what a field may be asked. Each function answers the state with the leaf as node.

create function logloom_private.query_refuse_any(p_position integer)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_at(p_position, 'query.any_takes_a_text');
end;
$$;

-- A span of time. Bounds that move with now also say how far from it they are, in microseconds.
create function logloom_private.query_check_within(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_from timestamptz,
  p_from_moves boolean,
  p_to timestamptz,
  p_to_moves boolean
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_moves constant boolean := coalesce(p_from_moves, false) or coalesce(p_to_moves, false);
begin
  p_state.names_now := p_state.names_now or v_moves;
  if p_from >= p_to and not v_moves then
    p_state.node := '{"type": "none"}';
    return p_state;
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'within',
    'from', to_char(p_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'to', to_char(p_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
  ));
  if p_from_moves then
    p_state.node := p_state.node || jsonb_build_object(
      'from_shift', (extract(epoch from p_from - p_state."now") * 1000000)::bigint
    );
  end if;
  if p_to_moves then
    p_state.node := p_state.node || jsonb_build_object(
      'to_shift', (extract(epoch from p_to - p_state."now") * 1000000)::bigint
    );
  end if;
  return p_state;
end;
$$;

create function logloom_private.query_check_time(
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
  v_span logloom_private.query_span;
  v_now timestamptz;
begin
  v_span := logloom_private.query_time(p_token, p_position, p_state."now");
  if v_span.names_now and logloom_private.query_text(p_token) ~ '^[+-]' then
    -- ts:-15m, the last 15 minutes; ts:+15m, the next.
    v_now := p_state."now";
    v_span.starts := least(v_span.starts, v_now);
    v_span.ends := greatest(v_span.ends, v_now + interval '1 microsecond');
  end if;
  return logloom_private.query_check_within(
    p_state, p_field, v_span.starts, v_span.names_now, v_span.ends, v_span.names_now
  );
end;
$$;

-- An IPv4 or IPv6 network in the notation address/bits, or null where a token is no such thing.
create function logloom_private.query_network(p_token text, p_position integer)
returns inet
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if left(p_token, 1) = '"' then
    return null;
  elsif p_token ~ '^[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}$' then
    if not pg_input_is_valid(p_token, 'inet') or p_token ~ '(?:^|\.)0[0-9]' then
      perform logloom_private.refuse_at(
        p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
      );
    end if;
    return network(p_token::inet);
  elsif p_token ~ '^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/[0-9]{1,3}$' then
    -- PostgreSQL reads more than the notation allows, as ::1: or ::1..2.
    if pg_input_is_valid(p_token, 'inet')
      and p_token ~ '(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})/'
    then
      return network(p_token::inet);
    -- 12:30:45/2 is a text.
    elsif strpos(p_token, '::') > 0 or p_token ~ '^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}/' then
      perform logloom_private.refuse_at(
        p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
      );
    end if;
  end if;
  return null;
end;
$$;

-- A text inside a text, in either letter case: for msg and any.
create function logloom_private.query_check_contains(
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
begin
  p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'contains',
    'pattern', '%' || logloom_private.query_like(lower(p_token collate pg_c_utf8)) || '%'
  ));
  return p_state;
end;
$$;

-- A word or a quoted text that stands for itself.
create function logloom_private.query_check_term(
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
  v_name constant text := p_field ->> 'field';
  v_network inet;
begin
  if p_token = '*' and v_name = 'any' then
    perform logloom_private.query_refuse_any(p_position);
  elsif p_token = '*' then
    p_state.node := logloom_private.query_leaf(p_field, '{"test": "exists"}');
    return p_state;
  elsif v_name in ('msg', 'any') then
    if p_token = '""' and v_name = 'any' then
      perform logloom_private.query_refuse_any(p_position);
    end if;
    return logloom_private.query_check_contains(p_state, p_field, p_token, p_position);
  elsif v_name in ('level', 'id') then
    return logloom_private.query_check_exact(p_state, p_field, p_token, p_position);
  elsif v_name in ('ts', 'received_at') then
    return logloom_private.query_check_time(p_state, p_field, p_token, p_position);
  elsif logloom_private.query_has_wildcard(p_token) then
    p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
    p_state.node := logloom_private.query_leaf(
      p_field, jsonb_build_object('test', 'like', 'pattern', logloom_private.query_like(p_token))
    );
    return p_state;
  elsif v_name in ('attrs', 'host') then
    v_network := logloom_private.query_network(p_token, p_position);
    if v_network is not null then
      p_state.node := logloom_private.query_leaf(
        p_field, jsonb_build_object('test', 'network', 'network', v_network::text)
      );
      return p_state;
    end if;
  end if;
  return logloom_private.query_check_exact(p_state, p_field, p_token, p_position);
end;
$$;

-- field:=value, and what is exact without the sign.
create function logloom_private.query_check_exact(
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
  v_text text := logloom_private.query_text(p_token);
begin
  case p_field ->> 'field'
    when 'ts', 'received_at' then
      return logloom_private.query_check_time(p_state, p_field, p_token, p_position);
    when 'level' then
      v_text := logloom_private.query_require_level(p_token, p_position);
    when 'id' then
      v_text := lower(v_text);
      if v_text !~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
        perform logloom_private.refuse_at(
          p_position,
          'query.not_a_uuid',
          logloom_private.query_excerpt(logloom_private.query_text(p_token))
        );
      end if;
    else
  end case;
  p_state.node := logloom_private.query_leaf(
    p_field, jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v_text))
  );
  return p_state;
end;
$$;

-- field:i=value and field:w=word.
create function logloom_private.query_check_folded(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign text,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := lower(logloom_private.query_text(p_token) collate pg_c_utf8);
begin
  if (p_field ->> 'field') in ('ts', 'received_at', 'id', 'level') then
    perform logloom_private.refuse_at(
      p_position, 'query.takes_no_test', p_field ->> 'field', p_sign
    );
  elsif p_sign = 'i=' then
    p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
      'test', 'equal', 'values', jsonb_build_array(v_text), 'fold', true
    ));
    return p_state;
  elsif v_text = '' then
    perform logloom_private.refuse_at(p_position, 'query.word_is_empty');
  end if;
  p_state := logloom_private.query_count_searched(p_state, v_text, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'word',
    'pattern', '%' || logloom_private.query_like_text(v_text) || '%',
    'regex', '(?:^|\W)' || regexp_replace(v_text, '([!-/:-@[-`{-~])', '\\\1', 'g') || '(?:$|\W)'
  ));
  return p_state;
end;
$$;

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
  p_state.node := logloom_private.query_leaf(
    p_field, '{"test": "regex"}'::jsonb || v_regex - 'steps'
  );
  return p_state;
end;
$$;
