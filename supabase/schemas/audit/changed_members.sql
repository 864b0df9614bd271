-- The members of p_new that differ from p_old's, each as {from, to}.
create function logloom_private.changed_members(p_old jsonb, p_new jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(
      jsonb_object_agg(n.key, jsonb_build_object('from', p_old -> n.key, 'to', n.value)), '{}'
    )
    from jsonb_each(p_new) n
    where n.value is distinct from coalesce(p_old -> n.key, 'null')
  );
end;
$$;
