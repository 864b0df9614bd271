-- A number that a few letters write is stored as these letters, and compared as the number: in rows
-- and in sealed blocks alike.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(36);

select results_eq(
  $$select t.text, logloom_private.written_number(t.text)::text
    from unnest(array[
      '1e40', '-1e39', '1e-39', '-1E-38', '1.50e+300', '1.7976931348623157e308', '5e-324',
      '1e0040', '12345678901234567890e30'
    ]) t (text)$$,
  $$select t.text, trim_scale(t.text::numeric)::text
    from unnest(array[
      '1e40', '-1e39', '1e-39', '-1E-38', '1.50e+300', '1.7976931348623157e308', '5e-324',
      '1e0040', '12345678901234567890e30'
    ]) t (text)$$,
  'the value of a text that is such a number'
);
select is_empty(
  $$select t.text
    from unnest(array[
      -- written out they are not that long, or no longer
      '1e39', '-1e38', '1e-38', '5', '0', '0e500', '-0.5', repeat('1', 60),
      '1.2345678901234567890123456789012345678901e44',
      -- beyond a double
      '1e309', '-1e400', '1e-400', '2e-324',
      -- no JSON numbers
      '', 'e40', '1e', '+1e40', '01e40', '.1e40', '1.e40', ' 1e40', e'1e40\n', '1e40x', 'Infinity',
      'NaN', '1_0e40', '0x1e40', '1e4000', '1e' || repeat('0', 400) || '40'
    ]) t (text)
    where logloom_private.written_number(t.text) is not null$$,
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
  (1, 'attrs.n:>0', '{tiny,five,huge,huger}'),
  (2, 'attrs.n:<1', '{tiny,negative}'),
  (3, 'attrs.n:>=1e300', '{huge,huger}'),
  (4, 'attrs.n:>1e300', '{huger}'),
  (5, 'attrs.n:<=1e300', '{tiny,five,huge,negative}'),
  (6, 'attrs.n:[1e-300 TO 1e300]', '{tiny,five,huge}'),
  (7, 'attrs.n:{1e-300 TO 1e300}', '{five}'),
  (8, 'attrs.n:[* TO *]', '{tiny,five,huge,huger,negative}'),
  (9, 'NOT attrs.n:>0', '{negative,word,beyond,none}'),
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
