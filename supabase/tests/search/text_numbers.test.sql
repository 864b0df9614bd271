-- A text that is a number counts as a number. Letter case is folded.
begin;
\ir ../actors.psql
\ir records.psql
select plan(60);

select is(
  logloom_private.text_number(t.text)::text, trim_scale(t.text::numeric)::text,
  'the value of ' || left(t.text, 40)
)
from unnest(array[
  '5', '-0.50', '007', '0', '-0', '1e3', '12E-1', '0e500', '1e40', '-1E-38', '1.50e+300',
  '1.7976931348623157e308', '5e-324', '1e0040', '12345678901234567890e30', '9007199254740993',
  '0.1000000000000000055511151231257827', repeat('1', 60)
]) t (text);
select is_empty(
  $$select t.text
    from unnest(array[
      -- too large or too small for a double
      '1e309', '-1e400', '1e-400', '2e-324', repeat('1', 310),
      -- not in the syntax of the language
      '', '-', 'e40', '1e', '+1', '.1', '1.', '1.e4', ' 1', '1 ', e'1\n', '1x', 'Infinity', 'NaN',
      '1_000', '1,000', '0x1f', '1e4000', '12 MB', '٣'
    ]) t (text)
    where logloom_private.text_number(t.text) is not null$$,
  'any other text has no number'
);

-- Adds records, which are sealed if logloom_test.sealed says so.
select pg_temp.add_records($$[
  {"host": "tiny", "attrs": {"n": "1e-300"}},
  {"host": "five", "attrs": {"n": 5}},
  {"host": "huge", "attrs": {"n": "1e300"}},
  {"host": "huger", "attrs": {"n": "1.5E300"}},
  {"host": "negative", "attrs": {"n": "-1e300"}},
  {"host": "word", "attrs": {"n": "5"}},
  {"host": "beyond", "attrs": {"n": "1e400"}},
  {"host": "none", "attrs": {"m": {"n": "1e300"}}},
  {"host": "1", "tenant": "greek", "msg": "η οδός ΣΟΦΟΣ", "attrs": {"name": "ΣΟΦΟΣ"}},
  {"host": "2", "tenant": "greek", "msg": "η οδός σοφος", "attrs": {"name": "σοφος"}},
  {"host": "3", "tenant": "greek", "msg": "η οδός σοφοσ", "attrs": {"name": "σοφοσ"}},
  {"host": "4", "tenant": "greek", "msg": "nothing", "attrs": {"name": "sofos"}}
]$$);
-- Adds texts among numbers, and quantities.
select pg_temp.add_records((
  select jsonb_agg(jsonb_build_object(
    'tenant', 'loki', 'service', case when n % 2 = 0 then 'b' else 'a' end,
    'attrs', jsonb_build_object(
      'status', (200 + n)::text,
      'bytes', case when n % 2 = 0 then to_jsonb(n) else to_jsonb(n::text) end,
      'took', n || '00ms', 'size', n || ' kB', 'word', 'w' || n, 'same', '5',
      'mixed', case when n = 3 then 'none' else n || '.5' end
    )
  ))
  from generate_series(1, 12) n
));

-- Returns the hosts of the records that a query finds, or the query's statistics.
create function pg_temp.answer(p_tenant_id text, p_query text)
returns text
language plpgsql
as $$
begin
  perform pg_temp.act_as_user(p_tenant_id, 'alice');
  if p_query ~ '\|.*\(' then
    return (
      select jsonb_agg(s.values order by s.group ->> 'service') from public.log_stats(p_query) s
    );
  end if;
  return (
    select string_agg(l.host, ' ' order by l.id)
    from public.search_logs(p_query) s, unnest(s.logs) l
  );
end;
$$;
select is(pg_temp.answer(a.tenant_id, a.query), a.answer, a.tenant_id || ': ' || a.query)
from (values
  ('acme', 'attrs.n:>0', 'tiny five huge huger word'),
  ('acme', 'attrs.n:<1', 'tiny negative'),
  ('acme', 'attrs.n:>=1e300', 'huge huger'),
  ('acme', 'attrs.n:>1e300', 'huger'),
  ('acme', 'attrs.n:<=1e300', 'tiny five huge negative word'),
  ('acme', 'attrs.n:[1e-300 TO 1e300]', 'tiny five huge word'),
  ('acme', 'attrs.n:{1e-300 TO 1e300}', 'five word'),
  ('acme', 'attrs.n:[* TO *]', 'tiny five huge huger negative word'),
  ('acme', 'NOT attrs.n:>0', 'negative beyond none'),
  ('acme', 'attrs.n:1e300', 'huge'),
  ('acme', 'attrs.n:1E300', null),
  ('acme', 'attrs.n:*', 'tiny five huge huger negative word beyond'),
  ('acme', '@m.n:>1', 'none'),
  ('acme', 'attrs.n:5', 'five word'),
  ('acme', 'attrs.n:>5 | sort by ts', 'huge huger'),
  ('loki', '| sum(@status), min(@status), max(@status), avg(@status)',
    '[{"avg": 206.5, "max": 212, "min": 201, "sum": 2478}]'),
  ('loki', '| sum(@bytes), p50(@bytes), p95(@bytes)', '[{"p50": 6.5, "p95": 11.45, "sum": 78}]'),
  ('loki', '| sum(@bytes), p50(@bytes) by service',
    '[{"p50": 6, "sum": 36}, {"p50": 7, "sum": 42}]'),
  ('loki', '| sum(@took), max(@took)', '[{"max": 1.2, "sum": 7.8}]'),
  ('loki', '| sum(@size), p50(@size)', '[{"p50": 6500, "sum": 78000}]'),
  ('loki', '| max(@word)', '[{"max": null}]'),
  ('loki', '| sum(@same), count_distinct(@same)', '[{"sum": 60, "count_distinct": 1}]'),
  ('loki', '@mixed:>=10 | count() as n, sum(@mixed)', '[{"n": 3, "sum": 34.5}]'),
  ('loki', '@bytes:5 | count()', '[{"count": 1}]'),
  ('loki', '@bytes:[4 TO 5] | count()', '[{"count": 2}]'),
  ('loki', '@took:>=1.1s | count()', '[{"count": 2}]'),
  -- Sigma has two small letters: one is for the end of a word.
  ('greek', 'σοφος', '1 2 3'),
  ('greek', 'σοφοσ', '1 2 3'),
  ('greek', 'ΣΟΦΟΣ', '1 2 3'),
  ('greek', 'msg:w=σοφοσ', '1 2 3'),
  ('greek', 'msg:~"(?i)ΣΟΦ[α-ο][π-ς]$"', '1 2 3'),
  ('greek', 'msg:~"(?i)σοφο[^ς]"', null),
  ('greek', 'any:σοφος', '1 2 3'),
  ('greek', '@name:i=ΣΟΦΟΣ', '1 2 3'),
  ('greek', '@name:σοφος', '2'),
  ('greek', 'msg:~"σοφος"', '2'),
  ('greek', 'msg:="η οδός σοφος"', '2'),
  ('greek', 'σοφοσ | count()', '[{"count": 3}]')
) a (tenant_id, query, answer);
select pg_temp.act_as_postgres();

-- Extracted values have the same form as stored values.
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
  'an extracted number keeps its exponent if it is long'
);
select is(
  logloom_private.extract_json('{"a": 1' || repeat('0', 40) || ', "b": 1' || repeat('0', 39) || '}'
  ),
  ('{"a": "1e+40", "b": 1' || repeat('0', 39) || '}')::jsonb,
  'a long number without an exponent gets one'
);
select is(
  logloom_private.extract_json('{"a": -1' || repeat('0', 39) || '}'), '{"a": "-1e+39"}',
  'the sign counts as a character of the number'
);

select * from finish();
rollback;
