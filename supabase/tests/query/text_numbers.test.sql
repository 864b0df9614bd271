-- A text that is a number counts as one where a number is asked for: in rows and in sealed blocks
-- alike.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(58);

select results_eq(
  $$select t.text, logloom_private.text_number(t.text)::text
    from unnest(array[
      '5', '-0.50', '007', '0', '-0', '1e3', '12E-1', '0e500', '1e40', '-1E-38', '1.50e+300',
      '1.7976931348623157e308', '5e-324', '1e0040', '12345678901234567890e30', '9007199254740993',
      '0.1000000000000000055511151231257827', repeat('1', 60)
    ]) t (text)$$,
  $$select t.text, trim_scale(t.text::numeric)::text
    from unnest(array[
      '5', '-0.50', '007', '0', '-0', '1e3', '12E-1', '0e500', '1e40', '-1E-38', '1.50e+300',
      '1.7976931348623157e308', '5e-324', '1e0040', '12345678901234567890e30', '9007199254740993',
      '0.1000000000000000055511151231257827', repeat('1', 60)
    ]) t (text)$$,
  'the value of a text that is a number'
);
select is_empty(
  $$select t.text
    from unnest(array[
      -- beyond a double
      '1e309', '-1e400', '1e-400', '2e-324', repeat('1', 310),
      -- no numbers of the language
      '', '-', 'e40', '1e', '+1', '.1', '1.', '1.e4', ' 1', '1 ', e'1\n', '1x', 'Infinity', 'NaN',
      '1_000', '1,000', '0x1f', '1e4000', '12 MB', '٣'
    ]) t (text)
    where logloom_private.text_number(t.text) is not null$$,
  'any other text has none'
);

create temp table times as
select logloom_private.day_start(logloom_private.utc_day(now()) - 1) as day;
grant select on times to public;
select pg_temp.send_request(
  p_tenant_id => 'acme',
  p_ts => array(select t.day + n * interval '1 s' from times t, generate_series(1, 8) n),
  p_msg => array['tiny', 'five', 'huge', 'huger', 'negative', 'word', 'beyond', 'none'],
  p_attrs => array[
    '{"n": "1e-300"}', '{"n": 5}', '{"n": "1e300"}', '{"n": "1.5E300"}', '{"n": "-1e300"}',
    '{"n": "5"}', '{"n": "1e400"}', '{"m": {"n": "1e300"}}'
  ]::jsonb[]
);
-- Texts among numbers, and quantities.
select pg_temp.send_request(
  p_tenant_id => 'loki',
  p_ts => array(select t.day + n * interval '1 s' from times t, generate_series(1, 12) n),
  p_service => array['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'a', 'b'],
  p_attrs => array(
    select jsonb_build_object(
      'status', (200 + n)::text,
      'bytes', case when n % 2 = 0 then to_jsonb(n) else to_jsonb(n::text) end,
      'took', n || '00ms', 'size', n || ' kB', 'word', 'w' || n, 'same', '5',
      'mixed', case when n = 3 then 'none' else n || '.5' end
    )
    from generate_series(1, 12) n
  )
);
select logloom_private.flip_queue();
select logloom_private.write_step();

create function pg_temp.found(p_query text) returns text[] language plpgsql as $$
declare
  v_found text[];
begin
  perform pg_temp.act_as_user('acme', 'alice');
  v_found := array(
    select l.msg
    from public.search_logs(p_query, p_ts_from => 'now-3d') s, unnest(s.logs) l
    order by l.ts
  );
  reset role;
  return v_found;
end;
$$;

create temp table asked (n integer, query text, found text[]);
insert into asked values
  (1, 'attrs.n:>0', '{tiny,five,huge,huger,word}'),
  (2, 'attrs.n:<1', '{tiny,negative}'),
  (3, 'attrs.n:>=1e300', '{huge,huger}'),
  (4, 'attrs.n:>1e300', '{huger}'),
  (5, 'attrs.n:<=1e300', '{tiny,five,huge,negative,word}'),
  (6, 'attrs.n:[1e-300 TO 1e300]', '{tiny,five,huge,word}'),
  (7, 'attrs.n:{1e-300 TO 1e300}', '{five,word}'),
  (8, 'attrs.n:[* TO *]', '{tiny,five,huge,huger,negative,word}'),
  (9, 'NOT attrs.n:>0', '{negative,beyond,none}'),
  (10, 'attrs.n:1e300', '{huge}'),
  (11, 'attrs.n:1E300', '{}'),
  (12, 'attrs.n:*', '{tiny,five,huge,huger,negative,word,beyond}'),
  (13, '@m.n:>1', '{none}'),
  (14, 'attrs.n:5', '{five,word}'),
  (15, 'attrs.n:>5 | sort by ts', '{huge,huger}');
select is(pg_temp.found(a.query), a.found, a.query || ' over rows') from asked a order by a.n;

select logloom_private.seal_block(
  'acme', array[(select logloom_private.utc_day(t.day) from times t)]
);
select is((select count(*)::integer from logloom.logs l where l.tenant_id = 'acme'), 0, 'sealed');
select is(pg_temp.found(a.query), a.found, a.query || ' over a sealed block')
from asked a order by a.n;

-- Statistics.
create function pg_temp.answer(p_query text) returns jsonb language plpgsql as $$
declare
  v_rows jsonb;
begin
  perform pg_temp.act_as_user('loki', 'alice');
  v_rows := (
    select jsonb_agg(s.values order by s.group ->> 'service')
    from public.log_stats(p_query, p_ts_from => 'now-3d') s
  );
  reset role;
  return v_rows;
end;
$$;

create temp table stats (n integer, query text, answer jsonb);
insert into stats values
  (1, '| sum(@status), min(@status), max(@status), avg(@status)',
    '[{"sum": 2478, "min": 201, "max": 212, "avg": 206.5}]'),
  (2, '| sum(@bytes), p50(@bytes), p95(@bytes)', '[{"sum": 78, "p50": 6.5, "p95": 11.45}]'),
  (3, '| sum(@bytes), p50(@bytes) by service',
    '[{"sum": 36, "p50": 6}, {"sum": 42, "p50": 7}]'),
  (4, '| sum(@took), max(@took)', '[{"sum": 7.8, "max": 1.2}]'),
  (5, '| sum(@size), p50(@size)', '[{"sum": 78000, "p50": 6500}]'),
  (6, '| max(@word)', '[{"max": null}]'),
  (7, '| sum(@same), count_distinct(@same)', '[{"sum": 60, "count_distinct": 1}]'),
  (8, '@mixed:>=10 | count() as n, sum(@mixed)', '[{"n": 3, "sum": 34.5}]'),
  (9, '@bytes:5 | count()', '[{"count": 1}]'),
  (10, '@bytes:[4 TO 5] | count()', '[{"count": 2}]'),
  (11, '@took:>=1.1s | count()', '[{"count": 2}]');
select is(pg_temp.answer(a.query), a.answer, a.query || ' over rows') from stats a order by a.n;
select logloom_private.seal_block(
  'loki', array[(select logloom_private.utc_day(t.day) from times t)]
);
select is(pg_temp.answer(a.query), a.answer, a.query || ' over a sealed block')
from stats a order by a.n;

-- What is extracted from a message is like what is stored.
select is(
  logloom_private.extract_json(
    '{"a": 1e300, "b": [1.50e-300, -5e-324], "c": 1e39, "d": 1e40, "e": -12e40, "f": '
      || repeat('7', 60) || ', "g": 0.00, "h": 1e21}'
  ),
  (
    '{"a": "1e+300", "b": ["1.5e-300", "-5e-324"], "c": 1' || repeat('0', 39)
      || ', "d": "1e+40", "e": "-1.2e+41", "f": ' || repeat('7', 60)
      || ', "g": 0, "h": 1000000000000000000000}'
  )::jsonb,
  'a number that is extracted is not written out either'
);
select is(
  logloom_private.extract_json('{"a": 1' || repeat('0', 40) || ', "b": 1' || repeat('0', 39) || '}'
  ),
  ('{"a": "1e+40", "b": 1' || repeat('0', 39) || '}')::jsonb,
  'nor one that was'
);
select is(
  logloom_private.extract_json('{"a": -1' || repeat('0', 39) || '}'), '{"a": "-1e+39"}',
  'its sign is a letter of it, whatever stands beside it'
);

select * from finish();
rollback;
