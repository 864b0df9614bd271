begin;
select plan(401);

-- Lists for every rule a query that breaks the rule, the error, and its position (1-based, in code
-- points).
create temporary table cases (query text, error text, at integer);
insert into cases values
  -- Texts
  ('a "b', 'A quoted text is not closed', 3),
  ('"', 'A quoted text is not closed', 1),
  ('"a\"', 'A quoted text is not closed', 1),
  ('日本 "b', 'A quoted text is not closed', 4),
  ('👍\', 'A backslash has nothing to escape', 2),
  ('service:x\', 'A backslash has nothing to escape', 10),
  ('a ""', 'A quoted text to search for is empty', 3),
  ('-""', 'A quoted text to search for is empty', 2),
  ('time"out"', 'White space is missing before ""out""', 5),
  ('"time"out', 'White space is missing before "out"', 7),
  ('service="x"', 'White space is missing before ""x""', 9),
  ('"a""b"', 'White space is missing before ""b""', 4),
  ('service:a"b"', 'White space is missing before ""b""', 10),
  ('service:"a"b', 'White space is missing before "b"', 12),
  ('service:(a"b")', 'White space is missing before ""b""', 11),
  ('service:(a OR"b")', 'White space is missing before ""b""', 14),
  ('service:["a"TO b]', 'White space is missing before "TO"', 13),
  ('service:[a TO"b"]', 'White space is missing before ""b""', 14),
  ('service:>a"b"', 'White space is missing before ""b""', 11),
  ('msg:~"a"b', 'White space is missing before "b"', 9),
  ('NOT"a"', 'White space is missing before ""a""', 4),
  ('a OR"b"', 'White space is missing before ""b""', 5),
  ('a AND"b"', 'White space is missing before ""b""', 6),
  -- Operators and brackets
  ('AND', 'A term is missing before AND', 1),
  ('OR a', 'A term is missing before OR', 1),
  ('a OR', 'A term is missing at the end', 5),
  ('a AND', 'A term is missing at the end', 6),
  ('NOT', 'A term is missing at the end', 4),
  ('a OR OR b', 'A term is missing before OR', 6),
  ('a AND OR b', 'A term is missing before OR', 7),
  ('a AND | count()', 'A term is missing before |', 7),
  ('-AND', 'A term is missing before AND', 2),
  ('()', 'A term is missing before )', 2),
  ('(a OR )', 'A term is missing before )', 7),
  (')', 'A term is missing before )', 1),
  ('a)', 'A closing bracket has no opening bracket', 2),
  ('(a', 'A closing bracket is missing', 3),
  ('((a)', 'A closing bracket is missing', 5),
  ('(a | count()', 'A closing bracket is missing', 4),
  ('a [1 TO 2]', '[ is only allowed in a range of a field', 3),
  ('a]', '] is only allowed in a range of a field', 2),
  ('{', '{ is only allowed in a range of a field', 1),
  ('}', '} is only allowed in a range of a field', 1),
  ('- a', '- must directly precede the term that it negates', 1),
  ('a -', '- must directly precede the term that it negates', 3),
  ('--', '- must directly precede the term that it negates', 2),
  ('-[', '- must directly precede the term that it negates', 1),
  ('>5', '> is only allowed at the start of a value', 1),
  ('a -<5', '< is only allowed at the start of a value', 4),
  ('~"a"', '~ is only allowed at the start of a value', 1),
  ('>a:5', '> is only allowed at the start of a value', 1),
  -- Fields
  ('a http://x', 'Unknown field "http"', 3),
  ('-Service:x', 'Unknown field "Service"', 2),
  ('tenant_id:x', 'Unknown field "tenant_id"', 1),
  ('write_seq:1', 'Unknown field "write_seq"', 1),
  ('ser\vice:x', 'Unknown field "ser\vice"', 1),
  (repeat('x', 41) || ':y', 'Unknown field "' || repeat('x', 40) || '…"', 1),
  ('attrs:x', 'attrs needs the name of an attribute', 1),
  ('a @b' || repeat('.b', 32) || ':x', 'The path of an attribute has more than 32 segments', 3),
  ('attrs.:x', 'The path of an attribute is malformed', 1),
  ('attrs..a:x', 'The path of an attribute is malformed', 1),
  ('attrs.a*:x', 'The path of an attribute is malformed', 1),
  ('attrs.a/b:x', 'The path of an attribute is malformed', 1),
  ('attrs."a"."b"c:x', 'The path of an attribute is malformed', 1),
  ('attrs."a" b', 'A colon is missing after an attribute', 11),
  ('attrs."a"', 'A colon is missing after an attribute', 10),
  (':x', 'A field is missing before the colon', 1),
  ('service :x', 'A field is missing before the colon', 9),
  ('service: x', 'A value is missing after "service:"', 9),
  ('service:', 'A value is missing after "service:"', 9),
  ('(service:)', 'A value is missing after "service:"', 10),
  ('service:|count()', 'A value is missing after "service:"', 9),
  ('attrs."a b": x', 'A value is missing after "attrs."a b":"', 13),
  -- Values
  ('service:(a AND b)', 'AND is not allowed in a list of values', 12),
  ('service:(NOT a)', 'NOT is not allowed in a list of values', 10),
  ('service:()', 'A value is missing', 10),
  ('service:(a', 'A value is missing', 11),
  ('service:(OR a)', 'A value is missing', 10),
  ('service:(a OR)', 'A value is missing', 14),
  ('service:(a (b))', 'A value is missing', 12),
  ('service:(a|b)', 'A value is missing', 11),
  ('service:[ TO b]', 'TO is missing in a range', 14),
  ('service:[a to b]', 'TO is missing in a range', 12),
  ('service:[a TO ]', 'A bound of a range is missing', 15),
  ('service:[]', 'A bound of a range is missing', 10),
  ('service:[a TO b', 'A range is not closed', 16),
  ('service:[a TO b)', 'A range is not closed', 16),
  ('service:>', 'A value is missing after >', 10),
  ('service:>=(a)', 'A value is missing after >=', 11),
  ('service:>a*', 'A comparison takes no wildcard', 10),
  ('service:[a? TO b]', 'A comparison takes no wildcard', 10),
  ('service:[a TO b*]', 'A comparison takes no wildcard', 15),
  ('service:~a', 'A regular expression must be quoted', 9),
  ('service:~', 'A regular expression must be quoted', 9),
  ('msg:>a', 'msg cannot be compared', 6),
  ('msg:[a TO b]', 'msg cannot be compared', 6),
  ('level:loud', 'Unknown level "loud"', 7),
  ('level:err*', 'Unknown level "err*"', 7),
  ('level:""', 'Unknown level ""', 7),
  ('level:(info OR x)', 'Unknown level "x"', 16),
  ('level:>=x', 'Unknown level "x"', 9),
  ('level:100', 'Unknown level "100"', 7),
  ('id:x', 'Not a UUID: "x"', 4),
  ('id:00000000-0000-4000-8000-00000000000',
    'Not a UUID: "00000000-0000-4000-8000-00000000000"', 4),
  ('id:0*', 'Not a UUID: "0*"', 4),
  ('id:>x', 'id cannot be compared', 5),
  ('id:~"x"', 'id takes no regular expression', 5),
  ('ts:yesterday', 'Not a time: "yesterday"', 4),
  ('ts:2026-02-30', 'Not a time: "2026-02-30"', 4),
  ('ts:2026-13-01T00:00', 'Not a time: "2026-13-01T00:00"', 4),
  ('ts:2026-11-21T24:00', 'Not a time: "2026-11-21T24:00"', 4),
  ('ts:2026-11*', 'Not a time: "2026-11*"', 4),
  ('ts:>=1700000000', 'Not a time: "1700000000"', 6),
  ('ts:now-1y', 'Not a time: "now-1y"', 4),
  ('ts:now-1.5h', 'Not a time: "now-1.5h"', 4),
  ('ts:[now TO Now]', 'Not a time: "Now"', 12),
  ('ts:>now-99999999w', 'A shift from now is longer than 100 years', 5),
  ('received_at:~"x"', 'received_at takes no regular expression', 14),
  ('attrs.n:>x', 'An attribute is compared with a number, but this is not one: "x"', 10),
  ('attrs.n:>"5"', 'An attribute is compared with a number, but this is not one: "5"', 10),
  ('attrs.n:[1 TO now]', 'An attribute is compared with a number, but this is not one: "now"', 15),
  ('attrs.n:>=.5', 'An attribute is compared with a number, but this is not one: ".5"', 11),
  ('attrs.n:>0x10', 'An attribute is compared with a number, but this is not one: "0x10"', 10),
  ('attrs.n:>NaN', 'An attribute is compared with a number, but this is not one: "NaN"', 10),
  ('attrs.n:<1e401', 'A number is out of range', 10),
  ('attrs.n:<1e-401', 'A number is out of range', 10),
  -- Regular expressions
  ('msg:~"' || repeat('a', 257) || '"',
    'Regular expression: it is longer than 256 characters', 263),
  ('msg:~"*a"', 'Regular expression: * has nothing to repeat', 7),
  ('msg:~"a**"', 'Regular expression: * has nothing to repeat', 9),
  ('msg:~"(|+)"', 'Regular expression: + has nothing to repeat', 9),
  ('msg:~"^{2}"', 'Regular expression: {2} has nothing to repeat', 8),
  ('msg:~"\b*"', 'Regular expression: * has nothing to repeat', 9),
  ('msg:~"a{101}"', 'Regular expression: a repeat is {m}, {m,} or {m,n} up to 100', 8),
  ('msg:~"a{1,101}"', 'Regular expression: a repeat is {m}, {m,} or {m,n} up to 100', 8),
  ('msg:~"a{,3}"', 'Regular expression: a repeat is {m}, {m,} or {m,n} up to 100', 8),
  ('msg:~"a{x}"', 'Regular expression: a repeat is {m}, {m,} or {m,n} up to 100', 8),
  ('msg:~"a{"', 'Regular expression: a repeat is {m}, {m,} or {m,n} up to 100', 8),
  ('msg:~"a{3,2}"', 'Regular expression: the bounds of a repeat run backwards', 8),
  ('msg:~"a)"', 'Regular expression: ) has no opening bracket', 8),
  ('msg:~"(a(b)"', 'Regular expression: a group is not closed', 7),
  ('msg:~"a(?=b)"',
    'Regular expression: lookaround and options are not allowed; (?i) must be at the start', 8),
  ('msg:~"(?<!b)a"',
    'Regular expression: lookaround and options are not allowed; (?i) must be at the start', 7),
  ('msg:~"a(?i)b"',
    'Regular expression: lookaround and options are not allowed; (?i) must be at the start', 8),
  ('msg:~"(?s)a"',
    'Regular expression: lookaround and options are not allowed; (?i) must be at the start', 7),
  ('msg:~"***=a"', 'Regular expression: * has nothing to repeat', 7),
  ('msg:~"[a"', 'Regular expression: a class is not closed', 7),
  ('msg:~"a[]"', 'Regular expression: a class is empty', 8),
  ('msg:~"[^]"', 'Regular expression: a class is empty', 7),
  ('msg:~"[z-a]"', 'Regular expression: a range of a class runs backwards', 8),
  ('msg:~"[a-\d]"', 'Regular expression: a range in a class must end with a character', 8),
  ('msg:~"[\w-z]"', 'Regular expression: a range in a class must end with a character', 8),
  ('msg:~"(a)\1"', 'Regular expression: back-references are not allowed', 10),
  ('msg:~"\x41"', 'Regular expression: \x is not an escape', 7),
  ('msg:~"(a{100}){100}"', 'Regular expression: it is too complex: '
      || 'its characters and their repeats come to more than 1000', 15),
  ('msg:~"((((a{0,9}){0,9}){0,9}){0,9})"', 'Regular expression: it is too complex: '
      || 'its characters and their repeats come to more than 1000', 24),
  ('msg:~"(\ba?){18}"', 'Regular expression: it is too complex: '
      || 'the characters and repeats of all regexes in the query come to more than 2000', 7),
  ('a ' || repeat('msg:~"(a|b?){90}" ', 4), 'Regular expression: it is too complex: '
      || 'the characters and repeats of all regexes in the query come to more than 2000', 63),
  -- Networks
  ('host:10.0.0.0/33', 'Not a network: "10.0.0.0/33"', 6),
  ('host:2001:db8::/129', 'Not a network: "2001:db8::/129"', 6),
  ('host::db8::/32', 'Not a network: ":db8::/32"', 6),
  ('host:::1:/128', 'Not a network: "::1:/128"', 6),
  ('host:::ffff:1..2/128', 'Not a network: "::ffff:1..2/128"', 6),
  ('@ip:1:2:3:4:5:6:7:8/200', 'Not a network: "1:2:3:4:5:6:7:8/200"', 5),
  -- Aggregates
  ('a |', 'An aggregate is missing after |', 4),
  ('a | ', 'An aggregate is missing after |', 5),
  ('a | by env', 'Unknown stage "by"', 5),
  ('a | COUNT()', 'Unknown aggregate "COUNT"', 5),
  ('| count', 'A bracket is missing after count', 8),
  ('| count(', 'count takes no field', 9),
  ('| count(env)', 'count takes no field', 9),
  ('| rate(env)', 'rate takes no field', 8),
  ('| sum()', 'sum needs a field', 7),
  ('| sum(service)', 'sum takes an attribute', 7),
  ('| p95(ts)', 'p95 takes an attribute', 7),
  ('| avg(attrs)', 'attrs needs the name of an attribute', 7),
  ('| count_distinct(x)', 'Unknown field "x"', 18),
  ('| sum(attrs.a, attrs.b)', 'A closing bracket is missing', 14),
  ('| count() by', 'A field is missing after "by"', 13),
  ('| count() by env,', 'A field is missing after "by"', 18),
  ('| count() by nosuch', 'Unknown field "nosuch"', 14),
  ('| count() env', 'Nothing may follow the aggregate here: "env"', 11),
  ('| count() by env route', 'Nothing may follow the aggregate here: "route"', 18),
  ('| count() | count()', 'an aggregate is not allowed after an aggregate', 13),
  -- Limits
  (repeat('a', 2049), 'The query is longer than 2048 bytes', 2049),
  (repeat('日', 683), 'The query is longer than 2048 bytes', 683),
  (repeat('👍', 100000), 'The query is longer than 2048 bytes', 513),
  (repeat('(', 17) || 'a' || repeat(')', 17), 'Brackets and NOTs nest deeper than 16', 17),
  (repeat('-', 17) || 'a', 'Brackets and NOTs nest deeper than 16', 17),
  (repeat('NOT ', 17) || 'a', 'Brackets and NOTs nest deeper than 16', 65),
  (repeat('-(', 8) || 'service:(a' || repeat(')', 9), 'Brackets and NOTs nest deeper than 16', 25),
  (repeat('a ', 65), 'The query has more than 64 terms', 129),
  ('service:(' || repeat('a ', 65) || ')', 'The query has more than 64 terms', 138),
  ('a service:(' || repeat('a ', 64) || ')', 'The query has more than 64 terms', 138);

-- Gets an error in both ways: raised, and in the answer of validate_query.
create function pg_temp.raised(p_query text)
returns text
language plpgsql
as $$
declare
  v_detail text;
  v_hint text;
begin
  perform logloom_private.compile_query(p_query);
  return 'valid';
exception when others then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  return sqlstate || ' ' || (v_detail::jsonb ->> 'position') || ' ' || sqlerrm
    || case when v_hint = '' then ' without a hint' else '' end;
end;
$$;
select is(pg_temp.raised(query), format('PT400 %s %s', at, error), left(query, 60)) from cases;
select is(
  v.verdict - 'warnings' || jsonb_build_object('hint', v.verdict ->> 'hint' <> ''),
  jsonb_build_object('valid', false, 'error', error, 'position', at, 'hint', true),
  'answered with a hint: ' || left(query, 60)
)
from cases
cross join lateral (select logloom_private.query_verdict(query) as verdict offset 0) v;

-- These queries are valid, at each limit.
select is(
  logloom_private.query_verdict(query),
  '{"valid": true, "error": null, "position": null, "hint": null, "warnings": []}', left(query, 60)
)
from (values
  (repeat('a', 512)),
  (repeat('日', 512)),
  ('service:' || repeat('a', 2040)),
  (repeat('(', 16) || 'a' || repeat(')', 16)),
  (repeat('-', 16) || 'a'),
  (repeat('-(', 7) || '-service:(a' || repeat(')', 8)),
  (repeat('a ', 64)),
  ('service:(' || repeat('a ', 64) || ')'),
  ('msg:~"' || repeat('a', 256) || '"'),
  ('msg:~"a{100,}b{0,100}c{100}"'),
  ('msg:~"\b(\d{1,3}\.){3}\d{1,3}\b|a.{0,100}b.{0,100}c"'),
  ('msg:~"(a|b)*[\]\-^]x?(?:)(|a)\/\"\\]}"'),
  ('ts:>now-5217w'),
  ('attrs' || repeat('.a', 32) || ':x')
) v (query);

select is(
  logloom_private.query_verdict('service="my shop"') ->> 'hint',
  'Write the whole query as service:"my shop"', 'the hint suggests what was probably meant'
);

select * from finish();
rollback;
