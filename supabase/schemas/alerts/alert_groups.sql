-- Partial values per minute of what p_source selects: SQL that yields the columns of logloom.logs.
-- SQL of the partial values per minute of what a source yields.
create function logloom_private.alert_partials_sql(p_source text, p_filter text, p_number_sql text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- "offset 0" has the number computed once a record, not once an aggregate.
  return 'select m.minute, count(*) as events, count(m.number) as numbers, sum(m.number) as total, '
    || 'min(m.number) as least, max(m.number) as greatest '
    || 'from (select date_bin(''1 minute'', l.ts, ''epoch'') as minute, ' || p_number_sql
    || ' as number from (' || p_source || ') l where (' || p_filter || ') offset 0) m '
    || 'group by m.minute';
end;
$$;

-- Adds SQL that yields group_id, minute, events, numbers, total, least and greatest.
-- SQL that adds partial values to those that are there.
create function logloom_private.add_alert_partials_sql(p_partials text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'insert into logloom_private.alert_partials as p '
    || '(group_id, minute, events, numbers, total, least, greatest) ' || p_partials
    || ' on conflict (group_id, minute) do update set '
    || 'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '
    || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '
    || 'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)';
end;
$$;

-- Whatever a tenant's rules have in common with another's is looked at in one statement. Each
-- record is read by its own tenant's groups only: by the index, never by a scan of all.
-- Adds the records of a staging table to groups with the same filter and number, of each group
-- those from an instant on that arrived since the group's write sequence.
create function logloom_private.add_staged_records(
  p_table text,
  p_group_ids bigint[],
  p_froms timestamptz[],
  p_filter text,
  p_number_sql text
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  execute logloom_private.add_alert_partials_sql(
    'select m.group_id, m.minute, count(*), count(m.number), sum(m.number), min(m.number), '
    || 'max(m.number) from (select i.group_id, date_bin(''1 minute'', l.ts, ''epoch'') as minute, '
    || p_number_sql || ' as number from (select n.group_id, n.starts, g.tenant_id, g.filled_id, '
    || 'coalesce(g.write_seq, -1) as write_seq from unnest($1, $2) n (group_id, starts) '
    || 'join logloom_private.alert_groups g on g.group_id = n.group_id offset 0) i join '
    || p_table || ' l on l.tenant_id = i.tenant_id and l.ts >= i.starts '
    || 'where l.write_seq > i.write_seq '
    || 'and (l.ts > i.starts or i.filled_id is null or l.id >= i.filled_id) and ('
    || p_filter || ') offset 0) m group by 1, 2'
  )
  using p_group_ids, p_froms;
end;
$$;

-- A bounded number of records, the newest first. p_source: SQL that yields them as logloom.logs has
-- them, "order by" and "limit" included.
-- Adds the records of a source to a group, those up to its write sequence.
create function logloom_private.add_alert_piece(
  p_group logloom_private.alert_groups,
  p_source text
)
returns logloom_private.alert_piece
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_piece logloom_private.alert_piece;
begin
  execute 'with piece as materialized (' || p_source || '), added as ('
    || logloom_private.add_alert_partials_sql(
      'select $1, n.* from ('
      || logloom_private.alert_partials_sql(
        'select * from piece where write_seq <= $2', p_group.filter, p_group.number_sql
      ) || ') n'
    )
    || ') select (select count(*) from piece), o.ts, o.id '
    || 'from (select 1) _ left join lateral (select * from piece order by ts, id limit 1) o on true'
  into v_piece
  using p_group.group_id, p_group.write_seq;
  return v_piece;
end;
$$;

-- How many records the next piece has, by what the last one took: some 20 to 80 ms.
create function logloom_private.next_piece_size(p_records integer, p_milliseconds double precision)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_milliseconds < 20 then least(p_records * 4, 4096)
    when p_milliseconds > 80 then greatest(p_records / 4, 1)
    else p_records
  end;
end;
$$;

-- By the clock.
create function logloom_private.milliseconds_since(p_at timestamptz)
returns double precision
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  return extract(epoch from clock_timestamp() - p_at) * 1000;
end;
$$;

-- What cannot be evaluated

-- Has groups filled anew from the records.
create function logloom_private.empty_alert_groups(p_group_ids bigint[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.alert_groups g
  set write_seq = null, filled_from = null, filled_id = null, records_read = 0, spent_ms = 0
  where g.group_id = any(p_group_ids);
end;
$$;

-- Notes an error of a group, which the next round tries again.
create function logloom_private.fail_alert_group(
  p_group_id bigint,
  p_round logloom_private.alert_rounds,
  p_error text
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.empty_alert_groups(array[p_group_id]);
  update logloom_private.alert_groups g
  set last_error = p_error, retry_at = p_round.window_end + interval '1 minute'
  where g.group_id = p_group_id;
end;
$$;

-- How long a rule rests that cost too much after so many times before.
create function logloom_private.alert_back_off(p_failures integer)
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select least(s.alert_back_off * 2 ^ least(p_failures, 20), s.alert_back_off_max)
    from logloom_private.settings s
  );
end;
$$;

-- What last_error says of a rule that went beyond its budget.
create function logloom_private.too_costly(p_records bigint, p_milliseconds double precision)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    'The rule costs too much: %s records took %s ms. Narrow its query or shorten its window; it '
      || 'rests for a while.',
    p_records, round(p_milliseconds::numeric)
  );
end;
$$;

-- Has a group that went beyond its budget rest, longer each time.
create function logloom_private.rest_alert_group(
  p_group_id bigint,
  p_now timestamptz,
  p_records bigint,
  p_milliseconds double precision
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.empty_alert_groups(array[p_group_id]);
  update logloom_private.alert_groups g
  set
    last_error = logloom_private.too_costly(p_records, p_milliseconds),
    retry_at = p_now + logloom_private.alert_back_off(g.failures),
    failures = g.failures + 1,
    ms_per_record = p_milliseconds / greatest(p_records, 1)
  where g.group_id = p_group_id;
end;
$$;

-- Has the groups of tenants filled anew of which records were removed.
create function logloom_private.reset_alert_groups()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  with resets as (
    delete from logloom_private.log_removals r returning r.tenant_id
  )
  update logloom_private.alert_groups g
  set write_seq = null, filled_from = null, filled_id = null, records_read = 0, spent_ms = 0
  where g.tenant_id in (select r.tenant_id from resets r) and g.write_seq is not null;
end;
$$;
