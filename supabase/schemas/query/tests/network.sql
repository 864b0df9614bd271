-- The test of host:10.0.0.0/8: an address in a network. values: the network.

-- Returns the IPv4 or IPv6 network of a token address/bits, or null.
create function logloom_private.query_network(p_token text, p_position integer)
returns inet
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_valid boolean;
begin
  if left(p_token, 1) = '"' then
    return null;
  elsif p_token ~ '^[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}$' then
    v_is_valid := pg_input_is_valid(p_token, 'inet') and p_token !~ '(?:^|\.)0[0-9]';
  elsif p_token ~ '^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/[0-9]{1,3}$' then
    -- PostgreSQL also accepts ::1: and ::1..2.
    v_is_valid := pg_input_is_valid(p_token, 'inet')
      and p_token ~ '(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})/';
    -- 12:30:45/2 is a text, not a network.
    if not v_is_valid and strpos(p_token, '::') = 0
      and p_token !~ '^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}/'
    then
      return null;
    end if;
  end if;
  if not v_is_valid then
    perform logloom_private.refuse_at(
      p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
    );
  end if;
  return case when v_is_valid then network(p_token::inet) end;
end;
$$;

-- True if a text is an address (IPv4, with or without port, or IPv6) in a network.
create function logloom_private.address_in(p_text text, p_network inet)
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_address text;
begin
  if octet_length(p_text) > 45 then
    return false;
  end if;
  v_address := coalesce(
    substring(
      p_text collate "C"
      from '^((?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3})(?::[0-9]{1,5})?$'
    ),
    -- PostgreSQL also accepts ::1: and ::1..2.
    substring(
      p_text collate "C"
      from '^[0-9a-fA-F:]*(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})$'
    )
  );
  return pg_input_is_valid(v_address, 'inet') and v_address::inet <<= p_network;
end;
$$;
