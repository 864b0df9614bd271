begin;
select plan(33);

-- Each of 250 strings tries to break out of a text, a literal, a pattern or an identifier. Anywhere
-- in a query it must get a 400, or run within its own tenant and change nothing.
create temporary table hostile as
select
  row_number() over (order by b.i, p.i) as n,
  b.text || p.text || (array[
    '', ' --', ' /*', '''', ') or (true', '"', '\', ' | count()', '*', '$$'
  ])[1 + (b.i * 3 + p.i) % 10] as text
from unnest(array[
  '', '''', '"', '\', '\''', '\"', ''')', '"))', ''' or ''', '%s', '%1$s', '$$', '*', ') ', ']',
  e'\n', '/*', '--', 'e''\', '👍'
]) with ordinality b (text, i)
cross join unnest(array[
  'or true', 'or 1=1', 'or l.tenant_id is not null', '; drop table events', '; select pg_sleep(60)',
  '|| (select set_config(''test.canary'', ''dead'', false))', 'union select * from events', '::int',
  '#>> ''{}''', 'tenant_id = ''theirs''', '(select 1/0)', 'a', '|', '{}',
  '; delete from events returning *', 'like ''%''', 'l.attrs', 'x'' is not true or ''a''=''a',
  'x" OR service:* OR "x', '\u0027', '%', '(a+)+$', '$1', '{{}}', 'null'
]) with ordinality p (text, i)
-- Combines every beginning with half of the attacks, and every attack with half of the beginnings.
where (b.i + p.i) % 2 = 0;

create temporary table events (
  tenant_id text, id uuid, ts timestamptz, received_at timestamptz, level text, msg text,
  service text, env text, req_id text, user_id text, route text, host text, attrs jsonb
);
insert into events (tenant_id, ts, received_at, level, msg, service, host, attrs)
select tenant_id, now(), now(), 'error', text, text, text,
  jsonb_build_object('a', text, 'tags', jsonb_build_array(text, 5), text, 1)
from hostile, unnest(array['mine', 'theirs']) tenant_id;
select set_config('test.canary', 'alive', true);

-- Quotes a text for the query language.
create function pg_temp.quoted(p_text text)
returns text
language sql
as $$
  select '"' || replace(replace(p_text, '\', '\\'), '"', '\"') || '"'
$$;

create temporary table outcomes (
  place text, n bigint, outcome text, seen bigint, foreign_seen bigint
);

create function pg_temp.try(p_place text, p_n bigint, p_query text)
returns void
language plpgsql
as $$
declare
  v_query logloom_private.compiled_query;
  v_seen bigint;
  v_foreign bigint;
begin
  begin
    v_query := logloom_private.compile_query(p_query);
  exception when others then
    insert into outcomes values (p_place, p_n, sqlstate);
    return;
  end;
  execute 'select count(*), count(*) filter (where s.tenant_id <> ''mine'') from ('
    || 'select l.tenant_id from events l where l.tenant_id = ''mine'' and ' || v_query.filter
    || ') s'
  into v_seen, v_foreign;
  if v_query.aggregate is not null then
    execute 'select count(*) from (select '
      || array_to_string(v_query.by_sql || v_query.aggregate_sql, ', ')
      || ' from events l where l.tenant_id = ''mine'' and ' || v_query.filter
      || case when cardinality(v_query.by_sql) > 0
        then ' group by ' || array_to_string(v_query.by_sql, ', ') else '' end || ') s';
  end if;
  insert into outcomes values (p_place, p_n, 'ran', v_seen, v_foreign);
exception when others then
  insert into outcomes values (p_place, p_n, sqlstate || ' ' || sqlerrm || ': ' || p_query);
end;
$$;

select pg_temp.try(place, n, query)
from hostile
cross join lateral (values
  ('alone', text),
  ('free text', 'x OR ' || text),
  ('phrase', pg_temp.quoted(text)),
  ('phrase not escaped', '"' || text || '"'),
  ('field', text || ':x'),
  ('value', 'service:' || text),
  ('quoted value', 'service:' || pg_temp.quoted(text)),
  ('any of', 'host:(' || pg_temp.quoted(text) || ' OR ' || text || ')'),
  ('wildcard', 'service:*' || regexp_replace(text, '([^[:alnum:]])', '\\\1', 'g') || '?*'),
  ('regex', 'service:~"' || text || '"'),
  ('regex escaped', 'attrs.a:~"(?i)' || regexp_replace(text, '([^[:alnum:]])', '\\\1', 'g') || '"'),
  ('range', 'host:[' || text || ' TO ' || pg_temp.quoted(text) || ']'),
  ('quoted range', 'host:[' || pg_temp.quoted(text) || ' TO ' || pg_temp.quoted(text) || ']'),
  ('number', 'attrs.a:>' || text),
  ('time', 'ts:[' || pg_temp.quoted(text) || ' TO now]'),
  ('level', 'level:' || pg_temp.quoted(text)),
  ('id', 'id:' || pg_temp.quoted(text)),
  ('path', 'attrs.' || text || ':1'),
  ('quoted path', 'attrs.' || pg_temp.quoted(text) || ':1'),
  ('attribute', 'attrs.a:' || pg_temp.quoted(text)),
  ('element', 'attrs.tags:' || pg_temp.quoted(text)),
  ('aggregate', '| ' || text),
  ('aggregated path', '| sum(attrs.' || pg_temp.quoted(text) || ')'),
  ('group', '| count() by attrs.' || pg_temp.quoted(text))
) p (place, query);

select is(
  (select array_agg(distinct outcome) from outcomes o
    where o.place = p.place and outcome not in ('ran', 'PT400') or foreign_seen > 0),
  null, p.place || ': refused, or run within its tenant'
)
from (select distinct place from outcomes) p;

-- A quoted string finds exactly itself, so no part of it had another meaning.
select is(
  (select array_agg(h.text) from hostile h join outcomes o using (n)
    where o.place = p.place and o.seen is distinct from (
      select count(*) from hostile t
      where t.text = h.text or p.is_substring and strpos(lower(t.text), lower(h.text)) > 0
    )),
  null, p.place || ': each string finds itself'
)
from (values
  ('quoted value', false), ('quoted range', false), ('attribute', false), ('element', false),
  ('phrase', true)
) p (place, is_substring);
select is(
  (select array_agg(distinct place order by place) from outcomes where outcome = 'ran'),
  (select array_agg(distinct place order by place) from outcomes
    where place not in ('aggregate', 'id', 'level', 'number', 'time')),
  'strings run in every place where one can be valid'
);

select is((select count(*) from hostile), 250::bigint, '250 strings');
select is((select count(*) from events), 500::bigint, 'no record is deleted');
select is(current_setting('test.canary'), 'alive', 'no function was called');

select * from finish();
rollback;
