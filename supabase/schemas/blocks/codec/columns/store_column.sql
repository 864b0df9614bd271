-- Stores a column, unless all of it is null.
create function logloom_private.store_column(
  p_tenant_id text,
  p_block_id bigint,
  p_name text,
  p_first integer,
  p_values text[]
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column logloom_private.block_columns;
  v_first integer;
  v_last integer;
begin
  if p_first = 1 and p_name <> 'attrs'
    and (p_values[1] is null or p_values[cardinality(p_values)] is null)
  then
    -- Without what is null at its beginning and end.
    select min(u.n), max(u.n) into v_first, v_last
    from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
    where u.v is not null;
    if v_first is null then
      return;
    end if;
    v_column := logloom_private.encode_column(p_name, v_first, p_values[v_first:v_last]);
  else
    v_column := logloom_private.encode_column(p_name, p_first, p_values);
  end if;
  if v_column.kind is not null then
    v_column.tenant_id := p_tenant_id;
    v_column.block_id := p_block_id;
    if p_name in ('req_id', 'user_id') then
      if v_column.kind <> 'dictionary' then
        v_column.filter := logloom_private.value_filter(p_values);
      elsif cardinality(v_column.dictionary) > 256 then
        v_column.filter := logloom_private.value_filter(v_column.dictionary);
      end if;
    end if;
    insert into logloom_private.block_columns select v_column.*;
  end if;
end;
$$;
