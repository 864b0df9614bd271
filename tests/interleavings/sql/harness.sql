-- Cuts operations into steps. Each operation runs in a session of its own (a or b), driven through
-- dblink by a session of the isolation tester. A step lets the operation continue to the next place
-- where it takes a lock or commits. The step ends when the operation has reached this place, waits
-- for the other operation, or has ended. So the tester's sessions never wait, and any order of the
-- steps can be run.

create schema interleavings;
create extension dblink schema interleavings;

-- The number of places that an operation has reached, and the number that it may pass. They are
-- sequences, because changes of a sequence are visible at once.
create sequence interleavings.reached_a minvalue 0 start 0;
create sequence interleavings.reached_b minvalue 0 start 0;
create sequence interleavings.allowed_a minvalue 0 start 0;
create sequence interleavings.allowed_b minvalue 0 start 0;

create table interleavings.sides (
  side text primary key,
  operation text not null,
  statements text not null,
  pid integer
);

create table interleavings.places (
  side text not null,
  place bigint not null,
  name text not null
);

comment on table interleavings.places is
  'The places that each operation reaches when it runs alone.';

create table interleavings.removed (side text not null, name text not null);

comment on table interleavings.removed is
  'Deliberate faults: locks that an operation does not take.';

create table interleavings.outcomes (side text not null, message text not null);

-- Returns the side of this session, or an empty text for the test itself.
create function interleavings.side()
returns text
language plpgsql
as $$
begin
  return coalesce(current_setting('interleavings.side', true), '');
end;
$$;

create function interleavings.last_value(p_sequence text)
returns bigint
language plpgsql
as $$
declare
  v_value bigint;
begin
  execute format('select s.last_value from interleavings.%I s', p_sequence) into v_value;
  return v_value;
end;
$$;

-- Waits at a place until it may be passed.
create function interleavings.pause(p_name text)
returns void
language plpgsql
as $$
declare
  v_side constant text := interleavings.side();
  v_place bigint;
begin
  if v_side = '' then
    return;
  end if;
  perform set_config('application_name', p_name, false);
  v_place := nextval('interleavings.reached_' || v_side);
  if current_setting('interleavings.notes_places', true) = 'on' then
    insert into interleavings.places (side, place, name) values (v_side, v_place, p_name);
  end if;
  while interleavings.last_value('allowed_' || v_side) < v_place loop
    perform pg_sleep(0.001);
  end loop;
end;
$$;

-- Stops like pause(), but only once in a transaction.
create function interleavings.pause_once(p_name text)
returns void
language plpgsql
as $$
declare
  v_passed constant text := coalesce(current_setting('interleavings.passed', true), '');
begin
  if interleavings.side() <> '' and v_passed not like '%' || p_name || ';%' then
    perform set_config('interleavings.passed', v_passed || p_name || ';', true);
    perform interleavings.pause(p_name);
  end if;
end;
$$;

create function interleavings.stops_at(p_name text)
returns boolean
language plpgsql
as $$
begin
  perform interleavings.pause_once(p_name);
  return true;
end;
$$;

create function interleavings.is_removed(p_name text)
returns boolean
language plpgsql
as $$
begin
  return exists (
    select from interleavings.removed r where r.side = interleavings.side() and r.name = p_name
  );
end;
$$;

create function interleavings.lock_name(p_key integer)
returns text
language plpgsql
as $$
begin
  return (
    select n::text
    from unnest(enum_range(null::logloom_private.lock_name)) n
    where logloom_private.lock_key(n) = p_key
  );
end;
$$;

-- The service's functions call these instead of pg_advisory_xact_lock and the like.
create function interleavings.hold(p_key integer, p_second integer default null)
returns void
language plpgsql
as $$
declare
  v_name constant text := interleavings.lock_name(p_key);
begin
  perform interleavings.pause_once(v_name);
  if interleavings.is_removed(v_name) then
    return;
  elsif p_second is null then
    perform pg_advisory_xact_lock(p_key);
  else
    perform pg_advisory_xact_lock(p_key, p_second);
  end if;
end;
$$;

create function interleavings.share(p_key integer)
returns void
language plpgsql
as $$
declare
  v_name constant text := interleavings.lock_name(p_key);
begin
  perform interleavings.pause_once(v_name);
  if not interleavings.is_removed(v_name) then
    perform pg_advisory_xact_lock_shared(p_key);
  end if;
end;
$$;

create function interleavings.try_to_hold(p_key integer)
returns boolean
language plpgsql
as $$
declare
  v_name constant text := interleavings.lock_name(p_key);
begin
  perform interleavings.pause_once(v_name);
  return interleavings.is_removed(v_name) or pg_try_advisory_xact_lock(p_key);
end;
$$;

create table interleavings.originals (name text primary key, source text not null);

comment on table interleavings.originals is
  'The functions before they were cut.';

-- Cuts the service's functions where they take a lock: an advisory lock, a row ("for update"), a
-- dropped table. p_without_row removes "for update", as a fault.
create function interleavings.cut_functions(
  p_names text[] default null,
  p_without_row boolean default false
)
returns void
language plpgsql
as $$
declare
  -- This must not change the variable "found".
  v_cut constant text := '\1 if interleavings.stops_at(''%s'') then null; end if;';
  v_function record;
  v_source text;
begin
  insert into interleavings.originals (name, source)
  select p.proname, pg_get_functiondef(p.oid)
  from pg_catalog.pg_proc p
  where p.pronamespace = 'logloom_private'::regnamespace
    and p.prolang = (select l.oid from pg_catalog.pg_language l where l.lanname = 'plpgsql')
    and p.prosrc ~ 'lock_key\(|for (no key update|update|share)|format\(''drop table'
    -- These are not cut: meter_queue, which holds a session lock only for a moment, and
    -- evaluate_alerts, which no operation here calls.
    and p.proname not in ('lock_key', 'meter_queue', 'evaluate_alerts')
    and not exists (select from interleavings.originals o);
  for v_function in
    select o.name as proname, o.source
    from interleavings.originals o
    where p_names is null or o.name = any (p_names)
  loop
    v_source := v_function.source;
    v_source := replace(v_source, 'pg_try_advisory_xact_lock(', 'interleavings.try_to_hold(');
    v_source := replace(v_source, 'pg_advisory_xact_lock_shared(', 'interleavings.share(');
    v_source := replace(v_source, 'pg_advisory_xact_lock(', 'interleavings.hold(');
    v_source := regexp_replace(
      v_source, '(for (?:no key update|update|share)(?: skip locked)?;)',
      format(v_cut, 'row of ' || v_function.proname), 'g'
    );
    v_source := regexp_replace(
      v_source, '(for no key update skip locked\s+loop)',
      format(v_cut, 'row of ' || v_function.proname), 'g'
    );
    v_source := regexp_replace(
      v_source, '(execute format\(''drop table)',
      'if interleavings.stops_at(''table'') then null; end if; \1', 'g'
    );
    if p_without_row then
      v_source := regexp_replace(
        v_source, 'for (?:no key update|update|share)(?: skip locked)?(;|\s+loop)', '\1', 'g'
      );
    end if;
    if v_source <> v_function.source then
      execute v_source;
    end if;
  end loop;
  select string_agg(p.proname, ', ') into v_source
  from pg_catalog.pg_proc p
  where p.pronamespace = 'logloom_private'::regnamespace
    and p.proname not in ('meter_queue', 'evaluate_alerts')
    and p.prosrc ~ 'pg_(try_)?advisory_xact_lock(_shared)?\(\s*logloom_private\.lock_key';
  if v_source is not null then
    raise exception 'not cut where it takes a lock: %', v_source;
  end if;
end;
$$;

-- Opens the operation's session. Its user is postgres, who runs the jobs. Its date style is ISO, as
-- in jobs and requests.
create function interleavings.connect(p_side text, p_notes_places boolean default false)
returns void
language plpgsql
as $$
declare
  v_pid integer;
begin
  if p_side = any (coalesce(interleavings.dblink_get_connections(), '{}')) then
    if exists (select from interleavings.sides s where s.side = p_side and s.pid is null) then
      select c.pid into v_pid
      from interleavings.dblink(p_side, 'select pg_backend_pid()') c (pid integer);
      update interleavings.sides set pid = v_pid where side = p_side;
    end if;
    return;
  end if;
  perform interleavings.dblink_connect(
    p_side,
    format(
      'host=127.0.0.1 port=%s dbname=%I user=postgres password=postgres options=''-c '
        || 'interleavings.side=%s -c interleavings.notes_places=%s -c statement_timeout=0 '
        || '-c datestyle=ISO''',
      current_setting('port'), current_database(), p_side,
      case when p_notes_places then 'on' else 'off' end
    )
  );
  select c.pid into v_pid
  from interleavings.dblink(p_side, 'select pg_backend_pid()') c (pid integer);
  update interleavings.sides set pid = v_pid where side = p_side;
end;
$$;

create function interleavings.has_ended(p_pid integer)
returns boolean
language plpgsql
as $$
begin
  perform pg_stat_clear_snapshot();
  return coalesce(
    (select s.state <> 'active' from pg_stat_get_activity(p_pid) s), true
  );
end;
$$;

-- Returns the state of an operation: not begun, stands at a place, waits for the other operation,
-- or has ended. Null while it is running.
create function interleavings.stand(p_side text)
returns text
language plpgsql
as $$
declare
  v_pid integer;
  v_other integer;
  v_allowed constant bigint := interleavings.last_value('allowed_' || p_side);
  v_reached constant bigint := interleavings.last_value('reached_' || p_side);
begin
  if v_allowed = 0 then
    return 'is not begun';
  elsif v_reached > v_allowed then
    return 'stands';
  end if;
  select s.pid, o.pid into v_pid, v_other
  from interleavings.sides s, interleavings.sides o
  where s.side = p_side and o.side <> p_side;
  if v_other = any (pg_blocking_pids(v_pid)) then
    return 'waits for the other';
  elsif v_reached > 0 and interleavings.has_ended(v_pid) then
    return 'has ended';
  end if;
  return null;
end;
$$;

-- Lets the operation pass its place, and waits until both have stopped. Returns its new state. If
-- the operation does not stand, it cannot continue: with p_skips this step is skipped; otherwise
-- the order is left out, because it is equivalent to one where this step comes later. If an
-- operation ends after fewer steps than planned, its surplus steps are allowed only in the one
-- order that has them at the end.
create function interleavings.go(p_side text, p_step integer, p_skips boolean)
returns text
language plpgsql
as $$
declare
  v_other constant text := case p_side when 'a' then 'b' else 'a' end;
  v_from constant text := interleavings.stand(p_side);
  v_deadline constant timestamptz := clock_timestamp() + interval '60 seconds';
begin
  if interleavings.is_left_out() then
    return 'nothing';
  elsif not p_skips and v_from = 'has ended' then
    perform setval('interleavings.has_too_many', 1);
    return 'has ended before';
  elsif not p_skips and (select s.last_value = 1 from interleavings.has_too_many s) then
    perform setval('interleavings.left_out', 1);
    return 'left out: goes on where the other had ended';
  elsif p_step = 1 then
    perform setval('interleavings.allowed_' || p_side, 1);
    perform interleavings.dblink_send_query(
      p_side,
      (
        select 'select interleavings.pause(''begin'');' || s.statements
        from interleavings.sides s
        where s.side = p_side
      )
    );
  elsif v_from = 'stands' then
    perform setval(
      'interleavings.allowed_' || p_side, interleavings.last_value('reached_' || p_side)
    );
  elsif p_skips then
    return 'skipped: ' || v_from;
  else
    perform setval('interleavings.left_out', 1);
    return 'left out: ' || v_from;
  end if;
  -- Each operation may have released a lock that the other one waits for.
  while interleavings.stand(p_side) is null or interleavings.stand(v_other) is null
    or interleavings.stand(p_side) is null
  loop
    if clock_timestamp() > v_deadline then
      raise exception 'neither % nor % continues', p_side, v_other;
    end if;
    perform pg_sleep(0.001);
  end loop;
  return format(
    '%s %s', interleavings.stand(p_side),
    case
      when interleavings.stand(p_side) = 'stands' then (
        select 'before ' || s.application_name
        from interleavings.sides i, pg_stat_get_activity(i.pid) s
        where i.side = p_side
      )
    end
  );
end;
$$;

create sequence interleavings.left_out minvalue 0 start 0;
create sequence interleavings.has_too_many minvalue 0 start 0;

create function interleavings.is_left_out()
returns boolean
language plpgsql
as $$
begin
  return (select s.last_value = 1 from interleavings.left_out s);
end;
$$;

-- Lets both operations finish, and notes the error of this side's operation.
create function interleavings.collect(p_side text)
returns void
language plpgsql
as $$
declare
  v_deadline constant timestamptz := clock_timestamp() + interval '60 seconds';
begin
  perform setval('interleavings.allowed_a', 1000000), setval('interleavings.allowed_b', 1000000);
  while exists (
    select
    from interleavings.sides s
    where s.pid is not null and not interleavings.has_ended(s.pid)
  ) loop
    if clock_timestamp() > v_deadline then
      raise exception 'the operations do not end within 60 seconds';
    end if;
    perform pg_sleep(0.001);
  end loop;
  begin
    loop
      perform from interleavings.dblink_get_result(p_side) r (answer text);
      exit when not found;
    end loop;
  exception when others then
    insert into interleavings.outcomes (side, message) values (p_side, sqlstate || ' ' || sqlerrm);
    loop
      perform from interleavings.dblink_get_result(p_side, false) r (answer text);
      exit when not found;
    end loop;
    perform interleavings.dblink_exec(p_side, 'rollback');
  end;
end;
$$;

grant usage on schema interleavings to public;
grant all on all tables in schema interleavings to public;
grant all on all sequences in schema interleavings to public;
