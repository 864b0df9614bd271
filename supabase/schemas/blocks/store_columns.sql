-- The columns of a block beside its messages.

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

-- The keys of attrs; rare ones and long ones stay together in a column of their own.
-- Stores the attributes of a block's records by position, a column a key.
create function logloom_private.store_attributes(
  p_tenant_id text,
  p_block_id bigint,
  p_attrs jsonb[]
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_keys text[];
  v_first integer[];
  v_last integer[];
  v_count integer;
  v_attrs jsonb[];
  v_texts text[];
begin
  with k as materialized (
    select e.key, min(e.n) as first, max(e.n) as last, count(*) as count
    from (
      select jsonb_object_keys(a.attrs) as key, a.n
      from (
        select unnest(p_attrs) as attrs, generate_series(1, cardinality(p_attrs)) as n
      ) a
    ) e
    group by e.key
  )
  select array_agg(c.key), array_agg(c.first), array_agg(c.last), (select count(*) from k)
  into v_keys, v_first, v_last, v_count
  from (
    select k.* from k where length(k.key) <= 200 order by k.count desc, k.key collate "C" limit 80
  ) c;
  for v_at in 1..coalesce(cardinality(v_keys), 0) loop
    -- A slice is a copy.
    v_attrs := case
      when v_last[v_at] - v_first[v_at] + 1 = cardinality(p_attrs) then p_attrs
      else p_attrs[v_first[v_at]:v_last[v_at]]
    end;
    perform logloom_private.store_column(
      p_tenant_id, p_block_id, 'attrs.' || v_keys[v_at], v_first[v_at],
      array(select (unnest(v_attrs) -> v_keys[v_at])::text)
    );
  end loop;
  if v_count > coalesce(cardinality(v_keys), 0) then
    v_texts := array(select (unnest(p_attrs) - coalesce(v_keys, '{}'))::text);
  elsif array_position(p_attrs, null) is null then
    v_texts := array_fill('{}'::text, array[cardinality(p_attrs)]);
  else
    v_texts := array(select case when a is not null then '{}' end from unnest(p_attrs) a);
  end if;
  perform logloom_private.store_column(p_tenant_id, p_block_id, 'attrs', 1, v_texts);
end;
$$;
