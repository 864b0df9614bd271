begin;
select plan(74);

-- Lists queries of people who know another language. An invalid query gets an error and a hint. A
-- valid query that means something else here gets a warning.
create temporary table mistakes (query text, at integer, told text, hint text);
insert into mistakes values
  -- Lucene, KQL (Elasticsearch, Kibana)
  ('_exists_:user_id', 1, 'Unknown field "_exists_"', 'Write user_id:*'),
  ('NOT _exists_:status', 5, 'Unknown field "_exists_"', 'Write @status:*'),
  ('_missing_:status', 1, 'Unknown field "_missing_"', 'Write -@status:*'),
  ('level: error', 7,
    'A value is missing after "level:"', 'Write level:error: no blank follows the colon.'),
  ('status >= 500 and service: "api"', 8,
    '> is only allowed at the start of a value',
    'Write @status:>=500: a colon after the field, and no blanks.'),
  ('@timestamp > now-1h', 12,
    '> is only allowed at the start of a value',
    'Write ts:>now-1h: a colon after the field, and no blanks.'),
  ('level:error || level:warn', 14,
    '|| is not an operator',
    'Write OR between two terms, in upper case. One | begins a stage, such as | count().'),
  ('*:timeout', 1, 'Unknown field "*"', 'Write any:timeout'),
  ('service:api or service:web', 13,
    'or is read as a word: write operators in upper case', 'OR'),
  -- SQL
  ('SELECT * FROM logs WHERE level = ''error''', 1,
    'SQL is not supported: each word is searched for in msg', 'service:api level:error'),
  ('level = ''error''', 1,
    'level is read as a word: write a colon after a field', 'level:error'),
  ('level = "error"', 1,
    'level is read as a word: write a colon after a field', 'level:error'),
  ('user_id IS NULL', 1,
    'user_id is read as a word: write a colon after a field', '-user_id:*'),
  ('status != null', 1,
    'status is read as a word: write a colon after a field', '@status:*'),
  ('service IN (''api'', ''web'')', 1,
    'service is read as a word: write a colon after a field', 'service:(api OR web)'),
  ('msg LIKE ''%timeout%''', 1,
    'msg is read as a word: write a colon after a field', 'msg:timeout'),
  ('status <> 500', 8,
    '< is only allowed at the start of a value',
    'Write -@status:500: a colon after the field, and no blanks.'),
  ('order by ts desc', 1, 'order by is read as words: write a stage after a |', '| sort by ts'),
  ('attrs["x"]:1', 6, '[ is only allowed in a range of a field', 'Write @x:1'),
  ('-attrs[''http.status'']:>=500', 7,
    '[ is only allowed in a range of a field', 'Write @http.status:>=500'),
  ('attrs["x"]=1', 6, '[ is only allowed in a range of a field', 'Write @x:1'),
  ('attrs["the x"]:1', 6,
    '[ is only allowed in a range of a field', 'Write field:[a TO b], or quote the text.'),
  ('error | where attrs["x"] >= 1', 20,
    '[ is only allowed in a range of a field', 'Write @x:>=1'),
  -- LogQL (Loki)
  ('{service="api"}', 1, '{ is only allowed in a range of a field', 'Write service:api'),
  ('service:api |= "timeout"', 14, 'Unknown stage "="', 'Write "timeout" before the first |'),
  ('service:api != "timeout"', 13, '!= is read as a word: negate with -', '-"timeout"'),
  ('service:api |~ "time.*out"', 14,
    'Unknown stage "~"', 'Write msg:~"time.*out" before the first |'),
  ('service:api | json', 19,
    'json needs a field', 'Write json msg, or an attribute that holds a text.'),
  ('service:api | status >= 500', 15, 'Unknown stage "status"', 'Write | where @status:>=500'),
  ('rate({app="api"}[5m])', 6,
    '{ is only allowed in a range of a field', 'Write service:api | rate()'),
  ('sum by (service) (count_over_time({app="api"} |= "error" [5m]))', 35,
    '{ is only allowed in a range of a field', 'Write service:api | count() by service'),
  -- SPL (Splunk)
  ('index=main error', 1,
    'index=main is read as a text: write a colon after a field', '@index:main'),
  ('level=error | stats count by host', 15, 'Unknown stage "stats"', 'Write | count() by host'),
  ('error | head 5', 9, 'Unknown stage "head"', 'Write | limit 5'),
  ('error | top limit=5 service', 9,
    'Unknown stage "top"', 'Write | count() as n by service | sort by n desc | limit 5'),
  ('error | dedup host', 9,
    'Unknown stage "dedup"', 'Write | count() by host: a row for each value'),
  ('error | timechart span=5m count by host', 9,
    'Unknown stage "timechart"', 'Write | count() by (5m), host'),
  ('error | table host, message', 9, 'Unknown stage "table"', 'Write | fields host, msg'),
  ('error | stats dc(user_id)', 9, 'Unknown stage "stats"', 'Write | count_distinct(user_id)'),
  ('error | eval seconds = duration_ms / 1000', 9,
    'Unknown stage "eval"',
    'Write the value as an attribute where the event is sent: a query makes no fields'),
  ('error | extend seconds = duration_ms / 1000', 9,
    'Unknown stage "extend"',
    'Write the value as an attribute where the event is sent: a query makes no fields'),
  ('error | rename host as server', 9,
    'Unknown stage "rename"',
    'Write the name that it has: only an aggregate gets another, | count() as n'),
  -- Datadog
  ('service:api status:error', 13, 'Unknown field "status"', 'Write level:error'),
  ('service:api !level:debug', 13, 'Unknown field "!level"', 'Write -level:debug'),
  ('level:(error,warn)', 8, 'Unknown level "error,warn"', 'Write level:(error OR warn)'),
  ('level:error|warn', 13, '| is not an operator', 'Write level:(error OR warn)'),
  ('-@status:500|502|503 api', 14, '| is not an operator', 'Write -@status:(500 OR 502 OR 503)'),
  ('service:api|web|count()', 13, '| is not an operator', 'Write service:(api OR web)'),
  ('level:error|count() > 10', 21,
    'Nothing may follow the aggregate here: ">"', 'Write | where count > 10'),
  ('level:error|json', 17,
    'json needs a field', 'Write json msg, or an attribute that holds a text.'),
  ('@http.status_code:5xx', 19,
    '5xx is read as a text: write a range of numbers', '@http.status_code:[500 TO 599]'),
  ('avg(duration_ms) by service', 1,
    'avg is read as a word, and its brackets as more terms', '| avg(@duration_ms) by service'),
  ('count() by service', 7,
    'A term is missing before )', 'An aggregate follows a bar: | count() by service'),
  -- LogsQL (VictoriaLogs), CloudWatch Logs Insights
  ('_time:5m error', 1, 'Unknown field "_time"', 'Write ts:-5m'),
  ('error | stats by (service) count() hits', 9,
    'Unknown stage "stats"', 'Write | count() by service'),
  ('error | sort by (_time) desc', 17,
    'Records are sorted by ts only',
    'Write sort by ts or sort by ts desc; an aggregate before it makes rows.'),
  ('service:in(api, web)', 9,
    'in is read as a value, and its brackets as more terms', 'service:(api OR web)'),
  ('error | filter @message like /timeout/', 9,
    'Unknown stage "filter"', 'Write | where msg:~"timeout"'),
  ('error | stats count(*) by bin(5m)', 9, 'Unknown stage "stats"', 'Write | count() by (5m)'),
  ('error | order by ts desc', 9, 'Unknown stage "order"', 'Write | sort by ts desc'),
  ('error | median(duration_ms)', 9, 'Unknown aggregate "median"', 'Write | p50(@duration_ms)'),
  ('error | avg(duration_ms)', 13,
    'Unknown field "duration_ms"',
    'An attribute is written @duration_ms. The fields are ts, received_at, id, level, '
      'msg, service, env, req_id, user_id, route, host, any.'),
  ('level == error', 1,
    'level is read as a word: write a colon after a field', 'level:error'),
  ('error | count() by bin(5m)', 20,
    'Unknown field "bin"', 'A width of time is written (5m): | count() by (5m)'),
  ('error | count() by service | sort count desc', 35,
    'by is missing after sort', 'Write | sort by count desc'),
  ('error | count() by service | sort desc', 35,
    'by is missing after sort', 'Write | sort by count desc'),
  ('error | count() by service | sort desc service', 35,
    'by is missing after sort', 'Write | sort by service desc'),
  ('error | count() by service | sort total desc', 35,
    'by is missing after sort', 'Write | sort by count desc'),
  ('error | count() by service | sort asc', 35,
    'by is missing after sort', 'Write | sort by count'),
  ('error | sort desc', 14, 'by is missing after sort', 'Write | sort by ts desc'),
  ('error | count() by service limit 10', 28,
    'Nothing may follow the aggregate here: "limit"', 'Write | limit 10'),
  ('error | count(*)', 15,
    'count takes no field', 'Write count(). count_distinct(user_id) counts different values.'),
  ('error | count', 14, 'A bracket is missing after count', 'Write | count()'),
  ('error | count() > 10', 17,
    'Nothing may follow the aggregate here: ">"', 'Write | where count > 10');

select is(
  case when (v.verdict -> 'valid')::boolean
    then format(
      '%s: %s → %s', w.first -> 'position', w.first ->> 'message', w.first ->> 'suggestion'
    )
    else format(
      '%s: %s → %s', v.verdict -> 'position', v.verdict ->> 'error', v.verdict ->> 'hint'
    )
  end,
  format('%s: %s → %s', m.at, m.told, m.hint),
  m.query
)
from mistakes m
cross join lateral (select logloom_private.query_verdict(m.query) as verdict) v
cross join lateral (select v.verdict -> 'warnings' -> 0 as first) w;

select * from finish();
rollback;
