-- Replaces forms of other languages by plainer forms, before a query is split into tokens.
create function logloom_private.translation_forms(p_query_dsl text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := p_query_dsl;
  v_bound constant text := '([<>]=?\s*[''"]?\d+(?:\.\d+)?)\s*';
  v_alias constant text := substring(
    p_query_dsl from '(?i)^\s*select.*\mfrom\s+\w+\s+(?:as\s+)?(?!by|on|or|and|as)(\w{1,3})\M'
  );
  v_form record;
begin
  for v_form in
    select f.pattern, f.plain
    from (
      values
        -- attrs->>'x', attrs["x"], x::int, regex @"x", in~ (…)
        ('@?\m(?:attrs|attributes|labels)(?:->>?|\[)[''"]([[:alnum:]_.-]+)[''"]\]?', '@\1'),
        ('::(?:int|bigint|num|float|double|text|varchar|decimal|date|time)[a-z0-9]*', ''),
        ('\m(?:try_)?cast\(\s*([@\w.]+)\s+as\s+\w+\s*\)', '\1'),
        ('(?<![\w):])\((@[\w.-]+)\)', '\1'),
        ('^(\s*select\M.*);\s*$', '\1'),
        ('\m(regex\s+)@"', '\1"'),
        ('\m(in)~\s*\(', '\1 ('),
        -- > 1,000, > 5 minutes ago, > 1.5 seconds, > 10 MB, > 2026-11-29 14:00
        ('([<>]=?\s*\d{1,3})[,_](\d{3})[,_](\d{3})(?!\d)', '\1\2\3'),
        ('([<>]=?\s*\d{1,3})[,_](\d{3})(?!\d)', '\1\2'),
        ('([<>]=?\s*)(\d+)\s*([smhdw])[a-z]*\s+ago\M', '\1now-\2\3'),
        (v_bound || '(?:milliseconds?|millis|msecs?|ms)\M(?!\s*[:=<>])', '\1ms'),
        (
          v_bound || '([smhd])(?:ecs?|econds?|ins?|inutes?|rs?|ours?|ays?)?\M(?!\s*[:=<>])',
          '\1\2'
        ),
        (v_bound || '([kmgt]?i?b)(?:ytes?)?\M(?!\s*[:=<>])', '\1\2'),
        ('([:<>=[({]\s*|\mto\s+)(\d{4}-\d\d-\d\d) (\d\d?:\d\d)', '\1\2T\3'),
        -- avg:@bytes{service:web} by {host}, top(…, 10, 'sum', 'desc')
        ('^\s*top\((.*), *(\d+), *''\w+'', *''(\w+)''\)\s*$', '\1 | sort by \3 | limit \2'),
        ('^\s*count:[\w.@]+\{([^}]*)\}', '\1 | count()'),
        ('^\s*(avg|sum|min|max|p\d+|pc\d+):(@?[\w.]+)\{([^}]*)\}', '\3 | \1(\2)'),
        ('^([^|]* \| \w+\([\w.@]*\))\s*by\s*\{([^}]*)\}', '\1 by \2 '),
        -- A monitor: logs("x").index("*").rollup("count").by("host").last("5m") > 9
        ('^\s*(logs\(.*)\.last\("(\w+)"\)', 'ts:-\2 \1'),
        ('\mlogs\("([^"]*)"\)(?=\.)', '\1'), ('\.index\("([^"]*)"\)', ' index=\1'),
        ('\.rollup\("(\w+)"(?:, *"(@?[\w.]+)")?\)', ' | \1(\2) as n'),
        ('( as n)(?:\.by\("([^"]*)"\))?\s*([<>]=?\s*\d+)', '\1 by \2 | where n \3'),
        ('\mSeverityLevel(\s*[<>=!]+\s*)1\M', 'level\1info'),
        ('\mSeverityLevel(\s*[<>=!]+\s*)2\M', 'level\1warn'),
        ('\mSeverityLevel(\s*[<>=!]+\s*)[34]\M', 'level\1error'),
        -- => 5, >4<6, > 5k, sum(a)/count(), rate(5m), count(*) where …, *:*
        ('=([<>])(?=\s*\d)', '\1='),
        ('([<>]=?\s*\d+)k\M', '\1000'),
        ('\mround\((\w+\([\w.@*]*\))(?:,\s*\d+)?\)', '\1'),
        ('\|\s*topk\((\d+),?\s*([\w.@]*)\)', '| top \1 \2'),
        ('\mrate\((\d+[smhd])\)', 'rate() by (\1)'),
        ('^(\w+\([^)]*\)) where ([^|]*)$', '\2 | \1'),
        ('\mextract\((\w+) from (\w+)\)', 'date_trunc(''\1'', \2)'),
        -- Times: ts:last 15m, 29/11/2026, 2026-11-29T14, from 10:00 to 11:00, after 2026-11-29
        ('(?:\m(?:ts|_?time(?:stamp)?)\s*[:=]|\min the)\s*(last|past)\M', '\1'),
        ('([:<>=]\s*)(\d\d)/(\d\d)/(20\d\d)', '\1\4-\3-\2'),
        ('([:<>=]\s*20\d\d-\d\d-\d\dT\d\d)(?![\d:])', '\1:00'),
        ('\m(?:between|from)\s+(\d\d?:\d\d)\s+(?:and|to|until)\s+(\d\d?:\d\d)', 'ts:[\1 TO \2]'),
        ('\mts:(\d\d?:\d\d)-(\d\d?:\d\d)', 'ts:[\1 TO \2]'),
        ('\m(?:after|since|from)\s+(20\d\d-\d\d-\d\d|\d\d?:\d\d)', 'ts:>=\1'),
        ('\m(?:before|until)\s+(20\d\d-\d\d-\d\d|\d\d?:\d\d)', 'ts:<\1'),
        -- service is web, bytes over 1000, route starts with /x, level:not info, a:1+b:2
        (
          '\m(service|level|host|env|status|method) (?:is|equals) (?!null|not|missing|in)(\w)',
          '\1:\2'
        ),
        ('\m(status|bytes|duration\w*|took) (?:is )?(?:over|above) (\d)', '\1:>\2'),
        ('\m(start|begin|end)s? with\s+["'']?([\w/.-]+)["'']?', '\1swith "\2"'),
        ('(\w:)(?:\s*not\s+|-(?=[a-z]))', '\1!'),
        ('([a-z]\w*:[\w.*-]+)[+&](?=[a-z]\w*:)', '\1 '),
        ('(:\d+\.\d+\.\d+)(?=/\d)', '\1.0'),
        (':(\d+\.\d+\.\d+\.\d+)-(\d+\.\d+\.\d+\.\d+)', ':[\1 TO \2]'),
        ('\|\s*regex\s+(\w+)\s*=\s*"', '| where \1 =~ "'),
        ('^(?!.*\m(?:since|until|select)\M)(.*\w)\s+(today|yesterday)\s*$', '\1 ts:\2'),
        -- ^Failed password, port 22$, how many errors per host, top 5 hosts by errors
        ('^\s*\^(\w[\w .-]*)$', 'msg =~ "^\1"'),
        ('^([\w .-]*\w)\$\s*$', 'msg =~ "\1$"'),
        (
          '^(?:how many|number of|count(?: of)?) errors? (?:by|per) (\w+)$',
          'level:error | count() by \1'
        ),
        (
          '^top (\d+) (\w+?)s? by errors?$',
          'level:error | count() as n by \2 | sort by n desc | limit \1'
        ),
        -- Commands of a shell
        ('\s2>&1', ''),
        ('\mwc -l\M', 'count()'),
        ('\mjq\s+(?:-\w+\s+)*''\.(\w+)''', '| fields \1'),
        ('\mjq\s+(?:-\w+\s+)*''([^'']*)''', '\1'),
        ('\mawk\s+''\$9\s*([<>=!]=?)\s*"?(\d+)"?\s*\{', 'where status \1 \2 | awk ''{'),
        (
          '\mawk\s+''\{\s*print \$7\s*\}''\s+([^|]*)\|\s*sort\s*\|\s*uniq -c(\s*\|\s*sort -\w+)?',
          'cat \1 | count() as n by route | sort by n desc'
        ),
        ('^([^$]*)\|\s*sort\s*\|\s*uniq -c(?:\s*\|\s*sort -\w+)?', '\1| patterns'),
        ('\m(?:awk|sed -n)\s+''/([^/]+)/\s*([^'']*)''', 'grep ''\1'' | awk ''\2''')
    ) f (pattern, plain)
  loop
    v_text := regexp_replace(v_text, v_form.pattern, v_form.plain, 'gi');
  end loop;
  -- select l.msg from logs l
  return regexp_replace(
    v_text, '\m' || coalesce(v_alias, ' ') || '(?:\.|(?=\s+(?:where|group|join|order|limit)\M))',
    '', 'gi'
  );
end;
$$;

-- Translates between 1 and 2, or between (1 .. 2). The state is at the word between. Sets meant to
-- null for any other form.
create function logloom_private.translated_between(
  p_state logloom_private.translation,
  p_name text,
  p_not text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field constant text := logloom_private.translated_name(p_name);
  v_has_brackets constant boolean := p_state.texts[p_state."at" + 1] = '(';
  v_low text;
  v_high text;
begin
  p_state."at" := p_state."at" + 1 + v_has_brackets::integer;
  p_state := logloom_private.translated_read(p_state);
  v_low := logloom_private.translated_text(p_state.meant);
  if v_low like '%..%' then
    p_state.meant := split_part(v_low, '..', 2);
    v_low := split_part(v_low, '..', 1);
  elsif logloom_private.translation_word(p_state) in ('and', '..', ',') then
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.translated_read(p_state);
  else
    p_state.meant := null;
    return p_state;
  end if;
  p_state."at" := p_state."at" + v_has_brackets::integer;
  v_high := logloom_private.translated_text(p_state.meant);
  if v_field = 'ts' then
    v_low := logloom_private.translated_time(v_low);
    v_high := logloom_private.translated_time(v_high);
  end if;
  p_state.meant := coalesce(
    case p_not when '' then '' else '-' end || v_field || ':[' || v_low || ' TO ' || v_high || ']',
    ''
  );
  return p_state;
end;
$$;
