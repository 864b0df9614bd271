-- What of a tenant reads at once for longer than a moment: as many processors as its plan says

-- Parallel safe although it takes a lock: a worker's lock is its leader's as well, and is gone with
-- the worker, whose leader takes it again at its next turn.
create function logloom_private.take_turn()
returns boolean
language plpgsql
volatile
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_scan constant text := current_setting('logloom.scan', true);
begin
  -- Empty where no search set it: jobs have budgets of their own.
  if coalesce(v_scan, '') = ''
    or extract(epoch from clock_timestamp()) < split_part(v_scan, ' ', 1)::numeric
  then
    return true;
  end if;
  -- Its statement's time limit ends the wait.
  while not pg_try_advisory_xact_lock(split_part(v_scan, ' ', 2)::bigint) loop
    perform pg_sleep(0.005);
  end loop;
  return true;
end;
$$;

revoke all on function logloom_private.take_turn() from public;

comment on function logloom_private.take_turn() is
  'True, at once as long as the search runs shorter than search_free_time, then as soon as no '
  'other search of the tenant that shares its scan slot reads on. Asked every few hundred records.';

-- What an index answers stays outside: a condition within CASE is a filter to the planner.
create function logloom_private.filter_in_turns(p_tree jsonb)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
  v_quick text;
  v_costly text;
begin
  -- A node knows nothing of the others' locks.
  if logloom_private.is_spread() then
    return logloom_private.query_sql(p_tree, 'l');
  end if;
  select
    string_agg(logloom_private.query_sql(i.item, 'l'), ' and ' order by i.n)
      filter (where i.is_quick),
    string_agg(logloom_private.query_sql(i.item, 'l'), ' and ' order by i.n)
      filter (where not i.is_quick)
  into v_quick, v_costly
  from (
    select
      e.item,
      e.n,
      e.item ->> 'type' in ('leaf', 'all', 'none')
        and e.item ->> 'field' not in ('attrs', 'any')
        and e.item ->> 'test' in ('equal', 'exists', 'within', 'range') as is_quick
    from jsonb_array_elements(v_items) with ordinality e (item, n)
  ) i;
  return '(' || concat_ws(
    ' and ',
    v_quick,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_turn() then '
      || coalesce(v_costly, 'true') || ' end'
  ) || ')';
end;
$$;

revoke all on function logloom_private.filter_in_turns(jsonb) from public;

comment on function logloom_private.filter_in_turns(jsonb) is
  'A query''s tree as a boolean expression over the alias l that takes its turn while it reads.';
