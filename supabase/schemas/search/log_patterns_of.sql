-- A pattern is a message with <*> for everything that varies: numbers, ids, addresses and times.

-- The first of two steps to a pattern, quick enough for every record. Replaces digits, together
-- with the hexadecimal letters and separators between the digits.
create function logloom_private.rough_shape(p_value text)
returns text
language sql
immutable
parallel safe
return regexp_replace(
  left(p_value, 1000) collate "C", '[0-9](?:[0-9a-fA-F.:,/+T-]*[0-9])?', '<*>', 'g'
);

-- The second step, once for each distinct result of the first. It also replaces letters next to a
-- <*> that belong to an id, a time zone or a month.
create function logloom_private.shape(p_rough text)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shape text := p_rough;
begin
  if strpos(v_shape, '<*>') = 0 then
    return v_shape;
  end if;
  -- Testing first takes a tenth of the time of replacing.
  if v_shape collate "C" ~ '[a-fA-F]<\*>|<\*>[A-Za-z_<-]' then
    v_shape := regexp_replace(
      v_shape collate "C",
      '(?:\m[a-fA-F]{1,16}-?)?<\*>(?:[A-Za-z_-]{0,16}<\*>)+(?:-?[a-fA-F]{1,16}\M)?'
        || '|\m[a-fA-F]{1,16}<\*>(?:-?[a-fA-F]{1,16}\M)?|<\*>-?[a-fA-F]{1,16}\M|<\*>Z\M',
      '<*>', 'g'
    );
  end if;
  -- Replaces IPv6 addresses, dates with the name of the month, and lists of numbers.
  if v_shape collate "C" ~ '<\*>[:,]|[bcglnprtvy][ /-]{1,2}<\*>' then
    v_shape := regexp_replace(
      v_shape collate "C",
      '(?:[a-fA-F]{0,4}:{1,2})*<\*>(?::{1,2}(?:[a-fA-F]{1,4}|<\*>))+'
        || '|(?:<\*>[ /-])?\m(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\M[ /-]{1,2}<\*>'
        || '|<\*>(?:, ?<\*>)+',
      '<*>', 'g'
    );
  end if;
  return v_shape;
end;
$$;

-- Builds SQL for the rough shapes of the newest p_records messages. Sealed messages are counted by
-- template, up to about p_templates. A template's row has a place, not an example. first, last:
-- microseconds since 1970. is_cut: true if there are more messages or templates.
create function logloom_private.rough_shapes_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_records integer,
  p_templates integer
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_counted constant boolean := not p_query.plan ? 'rows'
    and (logloom_private.short_cuts(p_query)).counts
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  -- No limit with hidden fields: the last block's end would reveal how large its records are.
  v_templates constant integer :=
    case when (logloom_private.short_cuts(p_query)).sizes then p_templates end;
  v_rows logloom_private.sql_source;
begin
  -- The newest messages come first, because not all may be read.
  if v_is_counted then
    v_rows := logloom_private.rows_sql(
      p_tenant_id, p_query.ts_from, p_query.ts_to, p_query.filter, array['ts', 'id', 'msg'],
      'desc', p_records + 1
    );
    v_rows.order_sql := 'l.ts desc, l.id desc';
    v_rows.max_rows := p_records + 1;
  else
    v_rows := logloom_private.first_records_sql(
      p_tenant_id, p_query, p_records + 1, 'desc',
      p_reads => case when p_query.plan ? 'rows' then null else array['msg'] end
    );
  end if;
  return 'select logloom_private.rough_shape(r.msg) as shape, count(*) as count, '
    || '(extract(epoch from min(r.ts)) * 1000000)::bigint as first, '
    || '(extract(epoch from max(r.ts)) * 1000000)::bigint as last, '
    || 'min(left(r.msg, 1000) collate "C") as example, null::bigint[] as place, '
    || 'sum(count(*)) over () > ' || p_records || ' as is_cut from (select l.ts, l.msg '
    || logloom_private.source_sql(logloom_private.staged_sql(p_query, v_rows))
    || ') r group by 1'
    || case when v_is_counted then ' union all select '
      || 'logloom_private.rough_shape(t.template), t.count, t.first, t.last, null, t.place, '
      || 't.is_cut from (select s.template, sum(s.events) as count, min(s.first_us) as first, '
      || 'max(s.last_us) as last, min(s.place) as place, '
      || format('coalesce(sum(count(*)) over () > %L, false)', v_templates)
      || ' as is_cut from ' || case when p_query.hidden_fields is null
        then 'logloom_private.sealed_patterns(' else 'logloom_private.sealed_patterns_by_id(' end
      || format(
        '%s, %L, %L, %L, %L',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
        p_query.ts_from, p_query.ts_to, p_query.tree, v_templates
      )
      || ') s group by s.template) t'
    else '' end;
end;
$$;

-- Returns how many templates of blocks the stage "patterns" counts at most. The last block may
-- exceed this.
create function logloom_private.max_templates()
returns integer
language sql
immutable
return 500000;

-- Returns the patterns of a query's messages. Reads at most the newest search_stage_records
-- messages, and about the newest max_templates templates in blocks.
create function logloom_private.log_patterns_of(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_records constant integer := (select s.search_stage_records from logloom_private.settings s);
  v_templates constant integer := logloom_private.max_templates();
  v_columns constant jsonb := jsonb_build_object(
    'count', array['p.count'], 'first', array['p.first'], 'last', array['p.last'],
    'pattern', array['p.pattern collate "C"']
  );
  v_time constant text :=
    'to_char(timestamptz ''epoch'' + p.%s * interval ''1 microsecond'', '
      || '''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
begin
  return query execute
    'with found as materialized ('
      || logloom_private.rough_shapes_sql(
        p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_records,
        v_templates
      )
    || '), rough as (select f.shape, sum(f.count) as count, min(f.first) as first, '
      || 'max(f.last) as last, min(f.example) as example, min(f.place) as place '
      || 'from found f group by 1'
    || '), patterns as (select logloom_private.shape(r.shape) as pattern, '
      || 'sum(r.count)::double precision as count, min(r.first) as first, max(r.last) as last, '
      || 'min(r.example) as example, (min(r.place))[1:1] '
      || '|| (min(r.place))[cardinality(min(r.place)) - 1:] as place from rough r group by 1'
    || '), chosen as materialized (select c.*, row_number() over () as n from ('
      || 'select p.*, count(*) over () as total '
      || logloom_private.source_sql(logloom_private.chosen_rows_sql(
        'patterns p', p_query.plan, v_columns, 'p.count desc, p.pattern collate "C"', p_limit
      ))
    || ') c), messages as (select m.* from logloom_private.sealed_messages('
      || logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id))
      || ', array(select c.place from chosen c where c.place is not null)'
      || ') m) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', ' || format(v_time, 'first') || ', ''last'', '
      || format(v_time, 'last') || ', ''example'', least(p.example, left(m.msg, 1000) collate "C"))'
      || ', p.total, case when exists (select from found f where f.is_cut) '
      || 'then $1 || row($2, $3, $4)::public.logloom_query_warning else $1 end '
      || 'from chosen p left join messages m on m.place = p.place order by p.n'
  using
    logloom_private.warnings_of(p_query),
    (p_query.plan -> 'first' -> 'position')::integer,
    format(
      'patterns reached its limit of %s records, or %s templates of blocks: these are the newest',
      v_records, v_templates
    ),
    'Narrow the filter or the range of time.';
end;
$$;
