-- Who may call which operation on which objects. Each case is a test. A public function without a
-- case fails. Cases are in operations.psql.
begin;
\ir ../actors.psql
\ir ../operations.psql

-- Runs a request like PostgREST: the pre-request check, then the operation. Undoes everything
-- afterwards.
create function pg_temp.request(
  p_actor text, p_operation text, p_arguments text, p_is_checked boolean default true
)
returns text
language plpgsql
as $$
declare
  v_actor actors;
  v_call constant text := pg_temp.call_of(p_operation, p_arguments);
  v_answer text;
begin
  select a.* into v_actor from actors a where a.actor = p_actor;
  begin
    perform set_config('request.headers', '{"authorization": "Bearer token"}', true),
      set_config('request.method', 'POST', true),
      set_config('request.path', '/rpc/' || p_operation, true),
      set_config('search_path', '"public", "extensions"', true);
    perform pg_temp.act_as(v_actor.role, v_actor.claims);
    if p_is_checked then
      perform logloom_private.check_request();
    end if;
    execute format('select coalesce(jsonb_agg(r), ''[]'')::text from %s r', v_call) into v_answer;
    raise sqlstate 'UNDO0';
  exception
    when sqlstate 'UNDO0' then
      perform pg_temp.act_as_postgres();
      return case
        -- These two operations show all tenants of the caller, not only the token's tenant.
        when v_answer like '%acme%' and v_actor.tenant_id <> 'acme'
          and p_operation not in ('list_log_tenants', 'switch_log_tenant')
        then 'a leak: ' || v_answer
        when v_answer like '%alice-only%' and not v_actor.sees_private then 'a leak: ' || v_answer
        else 'ok'
      end;
    when others then
      perform pg_temp.act_as_postgres();
      return sqlstate;
  end;
end;
$$;

create temp table operations as
select
  o.operation, r.reader is not null as is_reading, o.callers @> '{viewer}' as is_viewers
from logloom_private.operation_list() o
left join logloom_private.reading_operations() r on r.operation = o.operation;

select plan((select count(*)::integer * 13 from cases) + 2);

select is(
  pg_temp.request(a.actor, c.operation, c.arguments), case a.actor
    when 'owner' then c.owner
    when 'colleague' then c.colleague
    when 'admin' then c.admin
    when 'other_tenant' then c.other_tenant
    when 'service_role' then c.service_role
    when 'listed_client' then c.owner
    when 'unlisted_client' then case when o.is_reading then c.owner else 'PT403' end
    when 'viewer' then case
      when not o.is_viewers then 'PT403'
      when c.arguments ~ 'private_search' then 'PT400'
      when c.arguments ~ 'private_dashboard' then c.colleague
      else c.owner
    end
    when 'anon' then 'PT401'
    -- Users who already have a tenant cannot create one.
    else case c.operation when 'create_tenant' then 'PT400' else 'PT401' end
  end, format('%s(%s) by %s', c.operation, c.arguments, a.actor)
)
from cases c
join operations o on o.operation = c.operation
cross join actors a
order by c.id, a.actor;

-- The operations also check the caller if the project has replaced our pre-request function.
select matches(
  pg_temp.request(a.actor, c.operation, c.arguments, false), case
    when not case a.actor when 'viewer' then o.is_viewers else o.is_reading end then 'PT403|42501'
    when a.actor = 'viewer' and c.arguments ~ 'private_search' then 'PT400'
    when a.actor = 'viewer' and c.arguments ~ 'private_dashboard' then c.colleague
    else c.owner
  end, format('%s(%s) by %s, unchecked', c.operation, c.arguments, a.actor)
)
from cases c
join operations o on o.operation = c.operation
cross join (values ('unlisted_client'), ('viewer')) a (actor)
order by c.id, a.actor;

select is_empty(
  'select operation from operations except select operation from cases',
  'every function in public has its rows here'
);
select is_empty(
  'select operation from cases except select operation from operations',
  'every row here is about a function in public'
);

select * from finish();
rollback;
