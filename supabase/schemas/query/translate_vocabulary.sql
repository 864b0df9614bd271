-- Lists the words of other languages.

-- Returns the class of a word: stage, call (a function in a filter) or count (a function of an
-- aggregate). Case and _ do not matter.
create function logloom_private.word_class(p_list text, p_word text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select c.class
    from (
      values
        ('stage', 'json', 'json logfmt unpack unpackjson unpacklogfmt spath parsejson parse-json '
          'jsonparser kv parsekv extractkv parse-kv'),
        ('stage', 'extract', 'rex parse regexp pattern grok extract extractregexp dissect'),
        ('stage', 'math', 'eval extend let compute math calculate rename project-rename '
          'labelformat copy mv'),
        ('stage', 'distinct', 'dedup uniq distinct uniqby'),
        ('stage', 'sort', 'sort order sortby'),
        ('stage', 'limit', 'head take limit first tail last sample'),
        ('stage', 'patterns', 'patterns cluster reduce logreduce'),
        ('stage', 'width', 'bin bucket timeslice'),
        ('stage', 'fields', 'fields table project keep select show display lineformat jq columns '
          'project-keep'),
        ('stage', 'counts', 'stats summarize aggregate timechart chart eventstats count makeseries '
          'make-series timeseries group by streamstats countby histogram wc tstats'),
        ('stage', 'grep', 'grep egrep zgrep rg fgrep ack ag findstr'),
        ('stage', 'shell', 'cat zcat journalctl kubectl docker stern dmesg awk sed cut tr '
          'less more'),
        ('stage', 'terms', 'where filter search having |= |~ != !~ =~ not ( { ! contains test '
          'match'),
        ('call', 'contains', 'contains icontains containsci has include includes strcontains '
          'strpos position instr pos'),
        ('call', 'startswith', 'startswith beginswith hasprefix startswithcs'),
        ('call', 'endswith', 'endswith hassuffix'),
        ('call', 'like', 'like ilike'),
        ('call', '~', 'match matches regex regexp regexplike regexpcontains regexpmatches '
          'rlike re'),
        ('call', '*', 'isnotnull isnotempty exists exist ispresent defined hasvalue'),
        ('call', '-*', 'isnull isempty isblank ismissing missing'),
        ('call', 'net', 'cidr cidrmatch isipv4insubnet isipv6insubnet isipinsubnet ipv4isinrange '
          'ipv4isinanyrange ipv4ismatch ipin ipsubnet ipinrange ipv4range'),
        ('call', 'in', 'in inlist'),
        ('call', '=', 'equals equal eq exact'),
        ('call', 'inner', 'searchmatch matchphrase phrase i term case word search query '
          'querystring seq select filter where and not if'),
        ('call', 'wrap', 'lower upper tolower toupper lcase ucase tostring toint tolong todouble '
          'toreal number tonumber trim cast string int parseint toint32 toint64 coalesce ifnull'),
        ('keyword', '', 'select from where group order by having limit as and or not in is null '
          'nil undefined between asc desc on with over facet since until timeseries auto case when '
          'then else end filter into regex regexp logs log events event last past ago all any '
          'span interval step useother unwrap topk bottomk of yesterday today now nulls first '
          'within stream true false datetime date todatetime getdate utcnow currenttimestamp to '
          'every top rare field input find range hasany hasall containsany containscs hascs '
          'startswithcs endswithcs cases per before after countovertime sumovertime avgovertime '
          'minovertime maxovertime quantileovertime'),
        ('name', '', 'status severity severitytext earliest latest source sourcetype index error '
          'time exists missing all has since past'),
        ('count', 'p', 'median percentile percentiles quantile quantiles pct percentilecont '
          'percentiledisc percentileapprox approxpercentile approxquantile approxquantiles '
          'quantileif'),
        ('count', 'count', 'count c countif percentage countovertime doccount valuecount rowcount'),
        ('count', 'rate', 'rate perminute eps'),
        ('count', 'count_distinct', 'countdistinct dc dcount distinctcount countuniq uniq '
          'cardinality uniquecount uniqcount countunique unique approxdistinct '
          'distinct approxcountdistinct countuniqhash countd estdc dcountif dcounthll uniqexact'),
        ('count', 'sum', 'sum sumif total'), ('count', 'avg', 'avg mean average avgif'),
        ('count', 'min', 'min minif'), ('count', 'max', 'max maxif'),
        ('count', 'values', 'values value uniques list collect collectlist collectset arrayagg any '
          'takeany makelist makeset makebag')
    ) c (list, class, words)
    where c.list = p_list
      and strpos(' ' || c.words || ' ', ' ' || lower(replace(p_word, '_', '')) || ' ') > 0
    limit 1
  );
end;
$$;
