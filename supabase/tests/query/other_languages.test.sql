begin;
select plan(215);

-- Lists queries of people who know another language. An invalid query gets an error and a hint. A
-- valid query that means something else here gets a warning.
create temporary table mistakes (query text, at integer, told text, hint text);
insert into mistakes values
  -- Lucene, KQL (Elasticsearch, Kibana)
  ('_exists_:user_id', 1, 'Unknown field "_exists_"', 'user_id:*'),
  ('level: error', 7, 'A value is missing after "level:"', 'level:error'),
  ('status >= 500 and service: "api"', 8, '> is only allowed at the start of a value',
    '@status:>=500 service:api'),
  ('@timestamp > now-1h', 12, '> is only allowed at the start of a value', 'ts:>now-1h'),
  ('*:timeout', 1, 'Unknown field "*"', 'any:timeout'),
  ('service:api or service:web', 13, 'or is read as a word: write operators in upper case',
    'service:api OR service:web'),
  -- SQL
  ('SELECT * FROM logs WHERE level = ''error''', 1,
    'SQL is not supported: each word is searched for in msg', 'level:error'),
  ('level = "error"', 1, 'level is read as a text: write a colon after a field', 'level:error'),
  ('user_id IS NULL', 1, 'user_id is read as a text: write a colon after a field', '-user_id:*'),
  ('status != null', 1, 'status is read as a text: write a colon after a field', '@status:*'),
  ('service IN (''api'', ''web'')', 1, 'service is read as a text: write a colon after a field',
    'service:(api OR web)'),
  ('msg LIKE ''%timeout%''', 1, 'msg is read as a text: write a colon after a field',
    'msg:timeout'),
  ('order by ts desc', 1, 'order by is read as words: write a stage after a |',
    '| sort by ts desc'),
  ('attrs["x"]:1', 6, '[ is only allowed in a range of a field', '@x:1'),
  ('error | where attrs["x"] >= 1', 20, '[ is only allowed in a range of a field', 'error @x:>=1'),
  -- LogQL (Loki)
  ('service:api |= "timeout"', 14, 'Unknown stage "="', 'service:api "timeout"'),
  ('service:api != "timeout"', 13, '!= is read as a word: negate with -', 'service:api -"timeout"'),
  ('service:api |~ "time.*out"', 14, 'Unknown stage "~"', 'service:api msg:~"time.*out"'),
  ('service:api | status >= 500', 15, 'Unknown stage "status"', 'service:api @status:>=500'),
  ('rate({app="api"}[5m])', 6, '{ is only allowed in a range of a field',
    'service:api | rate() by (5m)'),
  ('sum by (service) (count_over_time({app="api"} |= "error" [5m]))', 35,
    '{ is only allowed in a range of a field', 'service:api "error" | count() by (5m), service'),
  -- SPL (Splunk)
  ('index=main error', 1,
    'index=main is read as a text: write a colon after a field (without index=main)', 'error'),
  ('error | top limit=5 service', 9, 'Unknown stage "top"',
    'error | count() as n by service | sort by n desc | limit 5'),
  ('error | dedup host', 9, 'Unknown stage "dedup"',
    'error | count() by host (without one record of each)'),
  ('error | eval seconds = duration_ms / 1000', 9, 'Unknown stage "eval"',
    'error (without seconds = duration_ms / 1000)'),
  ('error | count() as n | eval n2 = n * 2', 24, 'Unknown stage "eval"',
    'error | count() as n | math n * 2 as n2'),
  ('error | eval slow = if(ms > 5, 1, 0)', 9, 'Unknown stage "eval"',
    'error (without eval slow = if(ms > 5, 1, 0))'),
  ('error | count() by host | table host, route', 27, 'Unknown stage "table"',
    'error | count() by host (without table host, route)'),
  ('error | rename host as server', 9, 'Unknown stage "rename"',
    'error (without rename host as server)'),
  -- Datadog
  ('service:api status:error', 13, 'Unknown field "status"', 'service:api level:error'),
  ('service:api !level:debug', 13, 'Unknown field "!level"', 'service:api -level:debug'),
  ('level:(error,warn)', 8, 'Unknown level "error,warn"', 'level:(error OR warn)'),
  ('level:error|warn', 13, 'Unknown stage "warn"', 'level:(error OR warn)'),
  ('-@status:500|502|503 api', 14, 'Unknown stage "502"', '-@status:(500 OR 502 OR 503) api'),
  ('service:api|web|count()', 13, 'Unknown stage "web"', 'service:(api OR web) | count()'),
  ('level:error|count() > 10', 21, 'Nothing may follow the aggregate here: ">"',
    'level:error | count() | where count > 10'),
  ('level:error|json', 17, 'json needs a field',
    'Write json msg, or an attribute that holds a text.'),
  ('@http.status_code:5xx', 19, '5xx is read as a text: write a range of numbers',
    '@http.status_code:[500 TO 599]'),
  ('avg(duration_ms) by service', 1, 'avg is read as a word, and its brackets as more terms',
    '| avg(@duration_ms) by service'),
  ('count() by service', 7, 'A term is missing before )', '| count() by service'),
  -- LogsQL (VictoriaLogs), CloudWatch Logs Insights
  ('_time:5m error', 1, 'Unknown field "_time"', 'ts:-5m error'),
  ('error | stats by (service) count() hits', 9, 'Unknown stage "stats"',
    'error | count() as hits by service'),
  ('error | sort by (_time) desc', 17, 'Records are sorted by ts only', 'error | sort by ts desc'),
  ('error | count() as hits | sort by (hits) desc', 35, 'No column to sort by: "("',
    'error | count() as hits | sort by hits desc'),
  ('_stream:{service="api"}', 1, 'Unknown field "_stream"', 'service:api'),
  ('fields @timestamp, @message | limit 5', 1,
    'fields is read as a word: a query begins with its terms', '| limit 5 | fields ts, msg'),
  ('error | filter @message like /time out/', 9, 'Unknown stage "filter"', 'error msg:~"time out"'),
  ('msg:/refused by (db|cache)/', 5, 'Slashes do not mark a regular expression',
    'msg:~"refused by (db|cache)"'),
  ('@path:/time out/', 7, 'Slashes do not mark a regular expression: /time out/ is read as a text',
    '@path:~"time out"'),
  ('@ip:[10.0.0.0 TO 10.0.255.255]', 6,
    'An attribute is compared with a number, but this is not one: "10.0.0.0"', '@ip:10.0.0.0/16'),
  ('service : "web" api', 9, 'A field is missing before the colon', 'service:web api'),
  ('SELECT host, count(*) FROM logs WHERE level = ''error'' AND status IN (500, 502)'
    ' GROUP BY host ORDER BY count(*) DESC LIMIT 3', 1,
    'SQL is not supported: each word is searched for in msg',
    'level:error @status:(500 OR 502) | count() by host | sort by count desc | limit 3'),
  ('SELECT percentile(took, 95) FROM Log FACET host SINCE 1 hour ago TIMESERIES', 1,
    'SQL is not supported: each word is searched for in msg', 'ts:-1h | p95(@took) by (5m), host'),
  ('attrs->>''method'' = ''POST''', 1,
    'attrs->>''method'' is read as a text: write a colon after a field', '@method:POST'),
  ('[''logs''] | count()', 1, '[ is only allowed in a range of a field', '| count()'),
  ('error | where _time > ago(15m)', 21, '> is only allowed at the start of a value',
    'error ts:>now-15m'),
  ('"failed" | grep -v root', 12, 'Unknown stage "grep"', '"failed" -root'),
  ('service:in(api, web)', 9, 'in is read as a value, and its brackets as more terms',
    'service:(api OR web)'),
  ('error | median(duration_ms)', 9, 'Unknown aggregate "median"', 'error | p50(@duration_ms)'),
  ('error | count() by bin(5m)', 20, 'Unknown field "bin"', 'error | count() by (5m)'),
  ('error | count() by service | sort count desc', 35, '"by" is missing after "sort"',
    'error | count() by service | sort by count desc'),
  ('error | count() by service | sort desc', 35, '"by" is missing after "sort"',
    'error | count() by service | sort by count desc'),
  ('error | count() by service | sort desc service', 35, '"by" is missing after "sort"',
    'error | count() by service | sort by service desc'),
  ('error | count() by service limit 10', 28, 'Nothing may follow the aggregate here: "limit"',
    'error | count() by service | limit 10'),
  ('error | count(*)', 15, 'count takes no field', 'error | count()'),
  ('error | count', 14, 'A bracket is missing after count', 'error | count()'),
  ('error | count() > 10', 17, 'Nothing may follow the aggregate here: ">"',
    'error | count() | where count > 10'),
  -- jq, a shell, and habits of several languages
  ('abc "unclosed', 5, 'A quoted text is not closed', 'abc "unclosed"'),
  ('| count( by x', 10, 'count takes no field', '| count() by @x'),
  ('.level == "error"', 1, '.level is read as a text: write a colon after a field', 'level:error'),
  ('select(.level == "error")', 1, 'select is read as a word, and its brackets as more terms',
    'level:error'),
  ('.attrs.status >= 500', 15, '> is only allowed at the start of a value', 'attrs.status:>=500'),
  ('.msg | contains("timeout")', 8, 'Unknown aggregate "contains"', 'msg:timeout'),
  ('level:error | jq .msg', 15, 'Unknown stage "jq"', 'level:error | fields msg'),
  ('grep -i timeout', 1, 'grep is read as a word: a query begins with its terms', 'timeout'),
  ('level:error | wc -l', 15, 'Unknown stage "wc"', 'level:error | count()'),
  ('service:api, level:error', 9, 'A comma does not separate terms: api, is read as one value',
    'service:api level:error'),
  ('level:error, service:api', 7, 'Unknown level "error,"', 'level:error service:api'),
  ('service:[api, web]', 15, 'TO is missing in a range', 'service:(api OR web)'),
  ('last 1h', 1, 'last is read as a word: write a time as a term', 'ts:-1h'),
  ('error in the last 15 minutes', 14, 'last is read as a word: write a time as a term',
    'error ts:-15m'),
  ('1h ago', 1, '1h is read as a word: write a time as a term', 'ts:-1h'),
  ('since:1h', 1, 'Unknown field "since"', 'ts:-1h'),
  ('CIDR(@ip,10.0.0.0/8)', 1, 'CIDR is read as a word, and its brackets as more terms',
    '@ip:10.0.0.0/8'),
  ('@ip in 10.0.0.0/8', 1, '@ip is read as a text: write a colon after a field', '@ip:10.0.0.0/8'),
  ('@status:500-599', 9, '500-599 is read as a text: write a range of numbers',
    '@status:[500 TO 599]'),
  ('`connection refused`', 1, 'Backquotes do not quote: `connection is read as a text',
    '"connection refused"'),
  ('service:`api`', 9, 'Backquotes do not quote: `api` is read as a text', 'service:api'),
  ('C:\temp\file.log', 1, 'Unknown field "C"', '"C:\\temp\\file.log"'),
  ('"C:\temp\file.log"', 1, 'A backslash makes the next character literal: "C:\temp\file.log"',
    '"C:\\temp\\file.log"'),
  ('msg:C:\temp', 5, 'A backslash makes the next character literal: "C:\temp"', 'msg:"C:\\temp"'),
  ('took \d+ms', 6, 'A backslash makes the next character literal: "\d+ms"', 'took msg:~"\d+ms"'),
  ('level:error | count() by service | sort by -count', 44, 'No column to sort by: "-count"',
    'level:error | count() by service | sort by count desc'),
  ('level:error | count() by service | sort by desc', 44, 'No column to sort by: "desc"',
    'level:error | count() by service | sort by count desc'),
  ('service:api | pattern "<_> <status>"', 15, 'Unknown stage "pattern"',
    'service:api | extract "<_> <status>"'),
  ('"timeout" | rex "took (?<ms>\d+)"', 13, 'Unknown stage "rex"',
    '"timeout" | extract_regexp "took (?P<ms>\d+)"'),
  ('service:api | parse @message "took *" as ms', 15, 'Unknown stage "parse"',
    'service:api | extract "took <ms>"'),
  ('service:api | unwrap duration_ms', 15, 'Unknown stage "unwrap"',
    'service:api | avg(@duration_ms)'),
  ('service:api |= `timeout`', 14, 'Unknown stage "="', 'service:api "timeout"'),
  ('msg~"time.*out"', 5, 'White space is missing before ""time.*out""', 'msg:~"time.*out"'),
  ('level:!error', 7, 'Unknown level "!error"', '-level:error'),
  ('service:%api%', 9, '%api% is read as a text: the wildcard is *', 'service:*api*'),
  ('service:.*api.*', 9, '.*api.* is read as a text: the wildcard is *', 'service:*api*'),
  ('has:user_id', 1, 'Unknown field "has"', 'user_id:*'),
  ('error | countif(level = "error")', 9, 'Unknown aggregate "countif"',
    'error | count() if (level:error)'),
  ('error | count() group by service', 17, 'Nothing may follow the aggregate here: "group"',
    'error | count() by service'),
  ('level:error | count() by 5m', 26, 'Unknown field "5m"', 'level:error | count() by (5m)'),
  ('level:warnning', 7, 'Unknown level "warnning"', 'Did you mean warning? A level is debug, info,'
    ' warn or error, or an alias of one; level:>=warn is a range.'),
  ('error | transaction user_id', 9, 'Unknown stage "transaction"',
    'error (without transaction user_id)');
insert into mistakes (query, hint) values
  ('service=web earliest=-24h latest=-1h status=5*',
    'service:web ts:>=now-24h ts:<now-1h @status:5*'),
  ('_time:1h error | stats count_uniq(client_ip) ips by (service)',
    'ts:-1h error | count_distinct(@client_ip) as ips by service'),
  ('status:{400 TO 500}', '@status:{400 TO 500}'),
  ('service=web | stats count by date_hour', 'service:web | count() by (1h)'),
  ('logs | parse msg with * "took " ms:long "ms" | summarize avg(ms)',
    '| extract "took <ms>ms" | avg(@ms)'),
  ('status: [400 TO 499] AND -method: GET', '@status:[400 TO 499] -@method:GET'),
  ('fields @timestamp, @message, status | filter status = 404 | sort @timestamp desc | limit'
    ' 100',
    '@status:404 | sort by ts desc | limit 100 | fields ts, msg, @status'),
  ('refused|timeout', '(refused OR timeout)'),
  ('index=prod host=web-* status=404 | stats count as hits by client_ip | sort -hits | head 5',
    'host:web-* @status:404 | count() as hits by @client_ip | sort by hits desc | limit 5'
    ' (without index=prod)'),
  ('msg : "Failed password" and host : openssh*', 'msg:"Failed password" host:openssh*'),
  ('{app=~"web|api", host=~"db.*", env!~"dev|x.+", req_id=~"(?i)a-[12]"} |= "GET" |= "img"',
    'service:(web OR api) host:~"^db" -env:~"^(dev|x.+)$" req_id:~"(?i)^a-[12]$" "GET" "img"'),
  ('service <> ''web'' AND service NOT IN (''hdfs'',''bgl'')',
    '-service:web -service:(hdfs OR bgl)'),
  ('service:web OR AND level:error', 'service:web OR level:error'),
  ('SELECT rate(count(*), 1 minute) FROM Log TIMESERIES', '| rate() by (5m)'),
  ('service=web | chart avg(bytes) over host by status',
    'service:web | avg(@bytes) by host, @status'),
  ('grep -E "Failed|Invalid" auth.log', 'msg:~"Failed|Invalid" (without auth.log)'),
  ('SELECT service FROM logs WHERE level = ''error'' LIMIT 5',
    'level:error | limit 5 | fields service'),
  ('logs | distinct service', '| count() by service'),
  ('SELECT date_trunc(''minute'', ts), count(*) FROM logs WHERE service=''web'' GROUP BY 1',
    'service:web | count() by (1m)'),
  ('search in (logs) "refused" | summarize count() by host', '"refused" | count() by host'),
  ('service.keyword:web AND bytes:>50000 AND !referer:*google*',
    'service:web @bytes:>50000 -@referer:*google*'),
  ('error AND NOT _stream:{service="hdfs"}', 'error -service:hdfs'),
  ('cat app.log | grep error | head -20', 'error | limit 20 (without cat app.log)'),
  ('{ $.status = 404 && $.service = "web" }', '@status:404 service:web'),
  ('service=web | eventstats avg(duration_ms) as a | where duration_ms > a',
    'service:web | avg(@duration_ms) as a (without where duration_ms > a)'),
  ('{app="web", env!="dev"} |= "timeout" != "retry" | logfmt | duration > 1s',
    'service:web -env:dev "timeout" -"retry" | logfmt msg | where @duration:>1s'),
  ('error | fields strcontains(@message, "x") as hit | filter hit = 1',
    'error (without fields strcontains(@message, "x") as hit)'),
  ('sum(rate({service="web", level="error"}[5m])) / sum(rate({service="web"}[5m]))',
    'service:web | count() if (level:error) as part, count() as n | math part / n as share'
    ' (without [5m])'),
  ('SELECT percentage(count(*), WHERE status >= 500) FROM Log WHERE service = ''web''',
    'service:web | count() as n, count() if (@status:>=500) as part | math part / n * 100 as'
    ' percentage'),
  ('filter @message like "refused" and service = "zookeeper" | stats count(*) by host',
    'msg:refused service:zookeeper | count() by host'),
  ('max by (host) (max_over_time({service="checkout"} | unwrap duration_ms [10m]))',
    'service:checkout | max(@duration_ms) by (10m), host'),
  ('service=web bytes>100000 | table _time host route bytes',
    'service:web @bytes:>100000 | fields ts, host, route, @bytes'),
  ('_time:5m AND i(error) | fields _time, _msg', 'ts:-5m error | fields ts, msg'),
  ('search "timeout" | take 5', '"timeout" | limit 5'),
  ('{service="web"} | status = 404 and method = "POST"', 'service:web @status:404 @method:POST'),
  ('level=ERROR | chart count by service level', 'level:ERROR | count() by service, level'),
  ('FROM Log SELECT count(*) WHERE service = ''web'' FACET status LIMIT 20',
    'service:web | count() by @status | limit 20'),
  ('service=openssh "Failed password" | rex "from (?<src>[\d.]+)" | top src',
    'service:openssh "Failed password" | extract_regexp "from (?P<src>[\d.]+)" | count() as n'
    ' by @src | sort by n desc | limit 10'),
  ('index=web sourcetype=access_combined status>=500 | timechart count by host',
    'service:access_combined @status:>=500 | count() by (5m), host (without index=web)'),
  ('{namespace="prod"} | pattern `<ip> - - <_> "<method> <path> <_>" <status> <_>` | status'
    ' >= 500',
    '@namespace:prod | extract "<ip> - - <_> \"<method> <path> <_>\" <status> <_>" | where'
    ' @status:>=500'),
  ('SELECT count(*) FILTER (WHERE level=''error'') AS errors, count(*) AS total FROM logs'
    ' GROUP BY host',
    '| count() if (level:error) as errors, count() as total by host'),
  ('AppTraces | where SeverityLevel >= 2 and OperationName !contains "x" | summarize count() by'
    ' bin(TimeGenerated, 1h), AppRoleName',
    'level:>=warn -route:*x* | count() by (1h), service (without AppTraces)'),
  ('service=web user_agent="*bot*"', 'service:web @user_agent:*bot*'),
  ('tail -f /var/log/syslog | grep "Failed password"',
    '"Failed password" (without /var/log/syslog)'),
  ('service:web | summarize p95=percentile(duration_ms, 95) by route',
    'service:web | p95(@duration_ms) as p95 by route'),
  ('{service="web"} | json | line_format "{{.method}} {{.status}}"',
    'service:web | json msg | fields @method, @status'),
  ('host:web-{1,2}', 'host:~"^web-(1|2)$"'),
  ('level:error | count() by (host)', 'level:error | count() by host'),
  ('msg:conection~1 retry^2', 'msg:conection retry (without ~1)'),
  ('service:(api AND web)', '(service:api service:web)'),
  -- What is not known here is named, and never becomes a value.
  ('error | where ts > datefloor(1d) | count', 'error | count() (without ts > datefloor(1d))'),
  ('error | where hourofday(ts) between (0 .. 6)',
    'error (without where hourofday(ts) between (0 .. 6))'),
  ('error | where strlen(msg) > 200 and status = 404',
    'error @status:404 (without where strlen(msg) > 200)'),
  ('service=web | stats avg(bytes), stdev(bytes) by host',
    'service:web | avg(@bytes) by host (without stdev(bytes))'),
  ('service=web | stats count as n by host | where n < 5 or n > 9',
    'service:web | count() as n by host (without where n < 5 or n > 9)'),
  ('service=web | sort by bytes desc | head 5', 'service:web | limit 5 (without bytes)'),
  ('SELECT count(*) FROM logs WHERE level = ''error'' UNION SELECT 1',
    'level:error | count() (without UNION SELECT 1)'),
  ('SELECT host FROM logs WHERE status = 404 LIMIT 10 OFFSET 20',
    '@status:404 | limit 10 | fields host (without OFFSET 20)'),
  ('where strlen(msg) > 200', 'Not known here: where strlen(msg) > 200. Quote a text'),
  -- What is known in one place is known in the next.
  ('service=web | eval mb=bytes/1024/1024 | where mb > 1', 'service:web @bytes:>1048576'),
  ('service=web | rename client_ip as ip | stats count by ip',
    'service:web | count() by @client_ip'),
  ('logs | summarize n=count() by route | top 10 by n desc',
    '| count() as n by route | sort by n desc | limit 10'),
  ('service:openssh | parse /port (?<port>\d+)/ | count() by port',
    'service:openssh | extract_regexp "port (?P<port>\d+)" | count() by @port'),
  ('client_ip:ipv4_range("10.0.0.0/8")', '@client_ip:10.0.0.0/8'),
  ('ipv4_range(client_ip, "10.0.0.0", "10.255.255.255")', '@client_ip:10.0.0.0/8'),
  ('avg:@bytes{service:web} by {host}', 'service:web | avg(@bytes) by host'),
  ('count:logs{service:web,status:error} by {host}', 'service:web level:error | count() by host'),
  ('grep "^GET .* 404$"', 'msg:~"^GET .* 404$"'),
  ('journalctl -u sshd --since "1 hour ago" | grep Failed', 'service:sshd ts:-1h Failed'),
  ('SELECT count(*) FROM Log FACET CASES(WHERE status < 400 AS ''ok'', WHERE status >= 400 AS'
    ' ''bad'')',
    '| count() if (@status:<400) as ok, count() if (@status:>=400) as bad'),
  ('{"query":{"bool":{"must":[{"term":{"service":"web"}},{"range":{"status":{"gte":500}}}],'
    '"must_not":[{"match":{"message":"reset"}}]}},"size":5}',
    '(service:web @status:>=500) -msg:reset | limit 5'),
  ('{"aggs":{"t":{"date_histogram":{"field":"@timestamp","fixed_interval":"1h"}},'
    '"h":{"terms":{"field":"host"}}}}', '| count() by (1h), host'),
  ('ts:>2026-11-29 14:00', 'ts:>2026-11-29T14:00:00Z'), ('@took:>1.5 seconds', '@took:>1.5s'),
  ('@bytes > 10 MB', '@bytes:>10MB'),
  ('service:web | cuont() by hsot', 'service:web | count() by host'),
  ('service:web | count() every 5m', 'service:web | count() by (5m)'),
  ('rhost=10.1.2.3 uid=0', '@rhost:10.1.2.3 @uid:0'),
  ('level:error|level:warn', 'level:error OR level:warn'),
  ('@bytes:>1000 OR <10', '@bytes:>1000 OR @bytes:<10'),
  -- A quote that begins no value is dropped, and brackets outside a stage stay open.
  ('5" disk x', '5 disk x'),
  ('level:error 27" monitor', 'level:error 27 monitor'),
  ('"a" b" c', '"a" b c'),
  ('a "b | count()', 'a b | count()'),
  ('service:"api', 'service:api'),
  ('error in foo( by x', 'error in "foo( by x"'),
  -- What a query means is kept, or what it loses is named.
  ('service=web | eval mb=bytes/1024/1024 | stats sum(mb) as t by host | where t>50',
    'service:web | sum(@bytes) as raw by host | math raw / 1024 / 1024 as t | where t > 50'),
  ('x | eval kb=bytes/1024 | stats avg(kb) by host | where avg(kb) > 3',
    'x | avg(@bytes) as raw by host | math raw / 1024 as avg_kb | where avg_kb > 3'),
  ('error | transaction host | where duration > 9 | stats avg(duration)',
    'error | count() (without transaction host, avg(duration), duration > 9)'),
  ('tail -100 app.log | grep x', 'x (without tail -100 app.log)'),
  ('error | tail 20', 'error | sort by ts | limit 20'),
  ('kubectl logs deploy/web | tail -20', 'service:web | sort by ts desc | limit 20'),
  ('awk ''$9 == 404 {print $7}'' access.log | sort | uniq -c | sort -rn | head',
    '@status:404 | count() as n by route | sort by n desc | limit 10 (without cat access.log)'),
  ('SELECT host, date_trunc(''hour'', ts) AS h, avg((attrs->>''b'')::numeric) FROM logs WHERE'
    ' attrs->>''status'' <> ''200'' GROUP BY 1, 2 ORDER BY h DESC;',
    '@status:* -@status:200 | avg(@b) by (1h), host | sort by ts desc'),
  ('SELECT date_trunc(''hour'', ts), host, max(CAST(took AS int)) FROM logs WHERE NOT (a != 1)'
    ' GROUP BY 1, 2', 'NOT (@a:* -@a:1) | max(@took) by (1h), host'),
  ('msg LIKE ''GET /%'' OR msg ILIKE ''%.gz''', 'msg:~"^GET /" OR msg:~"(?i)\.gz$"'),
  ('FROM Log SELECT count(*) SINCE 1 day ago COMPARE WITH 1 week ago LIMIT 5',
    'ts:-1d | count() | limit 5 (without COMPARE WITH 1 week ago)'),
  ('topk(10, sum by (ip) (rate({app="web"}[1m])))',
    'service:web | rate() as n by @ip | sort by n desc | limit 10 (without [1m])'),
  ('earliest=-4h@h', to_char(date_trunc('hour', now() at time zone 'UTC') - interval '4 hours',
    '"ts:>="YYYY-MM-DD"T"HH24:MI:00"Z"')),
  ('+service:web +msg:timeot~2', 'service:web msg:timeot (without ~2)'),
  ('logs("service:web status:error").index("main").rollup("count").by("host").last("5m") > 9',
    'ts:-5m service:web level:error | count() as n by host | where n > 9 (without index=main)'),
  ('where LogMessage has "disk" | summarize count() by PodName, ContainerName',
    'msg:disk | count() by host, service'),
  ('level:error ts:14:00-15:00', to_char(now() at time zone 'UTC',
    '"level:error ts:["YYYY-MM-DD"T14:00:00Z TO "YYYY-MM-DD"T15:00:00Z]"'));

-- A translation is suggested for the whole query.
select is(
  regexp_replace(
    case when m.told is null then '' else format('%s: %s → ', t.at, t.told) end || t.hint
      || coalesce(case when m.told is null then substring(t.told from ' \(without .*\)$') end, ''),
    '\. Replace the whole query|Write the whole query as ', ''
  ),
  case when m.told is null then '' else format('%s: %s → ', m.at, m.told) end || m.hint, m.query
)
from mistakes m
cross join lateral logloom_private.query_verdict(m.query) v
cross join lateral jsonb_to_record(case when (v -> 'valid')::boolean
  then jsonb_build_object(
    'at', v -> 'warnings' -> 0 -> 'position', 'told', v -> 'warnings' -> 0 -> 'message',
    'hint', v -> 'warnings' -> 0 -> 'suggestion'
  )
  else jsonb_build_object('at', v -> 'position', 'told', v -> 'error', 'hint', v -> 'hint') end
) t ("at" integer, told text, hint text);

select is(
  (
    select string_agg(m.query, e'\n')
    from mistakes m
    cross join lateral regexp_replace(m.hint, ' \(without .*\)$', '') s (query)
    cross join lateral logloom_private.query_verdict(s.query) v
    where (v ->> 'valid' <> 'true' or v -> 'warnings' <> '[]') and m.hint !~ '^(?:Write|Not|Did) '
  ),
  null, 'every suggestion is a query without warnings'
);

select is(
  (
    select string_agg(v.query, ', ')
    from unnest(array[
      'msg:"C:\\temp"', '"100\%"', '\AND', '@day:2026-11', 'lost, retrying', 'last 5 messages',
      'route:/api/users/ host:/var/run/', 'msg:/api level:error', '@a:/x/', 'fields lost',
      'selected (from) where', 'disk is full', 'took 5ms (retry)', 'took 5 ms',
      'count mismatch service:x', 'limit 10 connections reached', '@bytes:>10 retries'
    ]) v (query)
    where logloom_private.query_verdict(v.query) -> 'warnings' <> '[]'
  ),
  null, 'no warning for texts that mean what they say'
);

select is(
  (
    select string_agg(v.query || ' → ' || m.meant[1], ', ')
    from unnest(array[
      'tri*s "tri*s" time?out 100\% "timeout: 100%" \AND "AND"', 'any:=502 service:=ap* msg:="x y"',
      'service:i=(API Worker) msg:w="out of"',
      '-(a OR b) NOT c level:(error OR warn) -@d:"" OR @e:*',
      'ts:2026-11-20T11:01:00+01:00 OR ts:-4w OR ts:[now-1h TO now}',
      'route:"/a/*" host:10.0.0.1:80',
      '@"user agent":curl* attrs."http.status":504 @a.b:>=1.5s -@n:<0',
      'msg:~"(?i)a\"b{1,2}" @size:{1 TO 2] @ip:10.0.0.0/8 @ip:"10.0.0.0/8"',
      '* | count_distinct(attrs.x) as n, p99.9(@ms) if (level:error) by (5m), host | where n > 5',
      'a | json msg | where @n:>5 | sort by ts desc | limit 5 | fields ts, @"a b"',
      '| count() as n, sum(@b) | math (n + 1) / sum * -2 as c | sort by c desc, n | limit 3',
      '| extract "<method> <_> <path>" from route | count() by @method', 'x | patterns | limit 5',
      '| extract_regexp "took (?P<ms>[0-9]+)ms" | avg(@ms)', '@b:50kB OR @x:"a:b"'
    ]) v (query)
    cross join lateral (select logloom_private.translated_query(v.query) as meant) m
    where not logloom_private.same_query(
      logloom_private.parse_written_query(v.query),
      logloom_private.parse_written_query(m.meant[1])
    )
  ),
  null, 'our own language is its own translation'
);

select * from finish();
rollback;
