-- Translates the stages of a pipeline.

-- Reads a stage that takes a part out of a text: rex, parse, grok. For unknown forms, meant becomes
-- null.
create function logloom_private.translated_extract(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end constant integer := logloom_private.translated_stage_end(p_state);
  v_part constant text[] := p_state.texts[p_state."at":v_end - 1];
  v_words constant text[] := lower(v_part::text collate "C")::text[];
  v_quoted constant integer := (
    select min(n) from generate_subscripts(v_part, 1) n where v_part[n] ~ e'^["''`\x01]'
  );
  v_text constant text := logloom_private.translated_text(v_part[v_quoted]);
  v_from constant text := (
    select logloom_private.translated_name(v_part[n]) from generate_series(2, v_end) n
    where n < v_quoted and v_part[n] ~ '^[@.]?[[:alpha:]_]' and v_part[n + 1] <> '='
        and v_words[n] not in ('field', 'from', 'parse', 'with', 'as')
      or n > v_quoted and v_words[n - 1] = 'from'
    order by n limit 1
  );
  v_names constant text[] := array(
    select t from unnest(v_part[array_position(v_words, 'as') + 1:]) with ordinality u (t, n)
    where t ~ '^\w+$' order by n
  );
  v_pattern text;
begin
  -- parse msg with * "port " port:int " ssh"; parse "* *" as method, path; %{WORD:method}
  v_pattern := case
    when 'with' = any (v_words) then (
      select string_agg(
        case when t ~ '^["'']' then logloom_private.translated_text(t)
          else '<' || t || '>' end,
        '' order by n
      )
      from unnest(v_part[array_position(v_words, 'with') + 1:]) with ordinality u (t, n)
      where t ~ '^["'']|^\w+$'
        and v_part[array_position(v_words, 'with') + n::integer - 1] is distinct from ':'
    )
    when v_text ~ '\(\?P?<' then replace(v_text, '(?<', '(?P<')
    when v_text ~ '\((?!\?)' and cardinality(v_names) = 1
      then regexp_replace(v_text, '\((?!\?)', '(?P<' || v_names[1] || '>')
    when v_text ~ '%\{\w+:\w+\}' then regexp_replace(v_text, '%\{\w+:(\w+)\}', '<\1>', 'g')
    when v_text like '%*%' and cardinality(v_names) > 0 then (
      select string_agg(t.part || coalesce('<' || v_names[t.n] || '>', ''), '' order by t.n)
      from regexp_split_to_table(v_text, '\*') with ordinality t (part, n)
    )
    when v_text ~ '<[^>]+>' then v_text end;
  p_state.extracted := p_state.extracted
    || array(select m[1] from regexp_matches(v_pattern, '<([A-Za-z_]\w*)>', 'g') m);
  p_state.said := p_state.said || array(
    select v_part[n + 1] from generate_subscripts(v_part, 1) n where v_part[n] = ':'
  ) || substring(v_text from '%\{.*');
  p_state.meant := '| '
    || case when v_pattern ~ '\(\?P<' and 'with' <> all (v_words) then 'extract_regexp "'
      else 'extract "' end
    || replace(v_pattern, '"', '\"') || '"' || coalesce(' from ' || nullif(v_from, 'msg'), '');
  return p_state;
end;
$$;

-- Reads eval x = a / b, math a / b as x. Sets meant to null if the stage math cannot compute x.
create function logloom_private.translated_math(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := array_to_string(
    p_state.texts[p_state."at" + 1:logloom_private.translated_stage_end(p_state) - 1], ' '
  );
  v_parts text[];
  v_formula constant text := '([[:alnum:]_.@ ()]+ ?[-+*/%][-+*/% [:alnum:]_.@()]*)';
begin
  v_text := regexp_replace(
    v_text, '\m(?:round|todouble|toreal|tolong) \( (.*?)(?: , [0-9]+)? \)', '\1', 'g'
  );
  v_text := regexp_replace(v_text, '([[:alnum:]_])([-*/+%])([[:alnum:]_(])', '\1 \2 \3', 'g');
  v_text := regexp_replace(v_text, '^' || v_formula || ' as ([A-Za-z_]\w*)$', '\2 = \1');
  v_text := regexp_replace(v_text, '([[:alnum:]_.@]+) as (\w+)', '\2 = \1', 'g');
  v_parts := regexp_match(v_text, '^([A-Za-z_]\w*) = ' || v_formula || '$');
  p_state.meant := '';
  if logloom_private.is_width_function(substring(v_text from '^\w+ = (\w+) \(')) then
    -- extend day = startofday(ts)
    p_state.width := logloom_private.translated_width_in(v_text);
    p_state.evals := p_state.evals || array[split_part(v_text, ' ', 1), ''];
    p_state.said := p_state.said || v_text;
  elsif v_text ~ '^\w+ = [[:alpha:]_@.][\w.]*(?: , \w+ = [[:alpha:]_@.][\w.]*)*$' then
    -- rename client_ip as ip
    p_state.evals := p_state.evals || string_to_array(replace(v_text, ' , ', ' = '), ' = ');
    p_state.said := p_state.said || array(
      select t from unnest(p_state.texts) t where t = any (p_state.evals) group by t
      having count(*) > 1
    );
  elsif v_parts is null then
    p_state.meant := null;
  elsif cardinality(p_state.counts) > 0 then
    if not array(select m[1] from regexp_matches(v_parts[2], '([A-Za-z_]\w*)', 'g') m)
      <@ logloom_private.translated_names(p_state)
    then
      p_state.meant := null;
      return p_state;
    end if;
    p_state.rest := concat_ws(' ', p_state.rest, '| math ' || v_parts[2] || ' as ' || v_parts[1]);
  elsif v_parts[2] ~ '^[@.]?[[:alpha:]_][[:alnum:]_.]*(?: [*/] [0-9.]+)+$' then
    p_state.evals := p_state.evals || v_parts;
  else
    p_state.meant := null;
  end if;
  return p_state;
end;
$$;

-- Returns the place after the stage that begins at p_state.at.
create function logloom_private.translated_stage_end(p_state logloom_private.translation)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select min(n) from generate_series(
      p_state."at" + (p_state.texts[p_state."at"] in ('|=', '|~'))::integer,
      cardinality(p_state.texts)
    ) n
    where p_state.texts[n] in ('', '|', '|=', '|~')
  );
end;
$$;

-- Reads a stage of records. Sets meant to null for other stages.
create function logloom_private.translated_record_stage(
  p_state logloom_private.translation,
  p_class text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant integer := p_state."at";
  v_end constant integer := logloom_private.translated_stage_end(p_state);
  v_word constant text := logloom_private.translation_word(p_state);
  v_next constant text := logloom_private.translation_word(p_state, 1);
  v_has_counts constant boolean := cardinality(p_state.counts) > 0;
  v_terms text := p_state.terms;
  v_keys text[];
  v_text text;
begin
  p_state.meant := '';
  if p_class = 'json' then
    p_state.stages := concat_ws(
      ' ', p_state.stages,
      case when v_word ~ 'logfmt|kv' then '| logfmt' else '| json' end,
      case when v_word in ('json', 'logfmt') and v_next ~ '^[@a-z]' and v_end = v_first + 2
        then logloom_private.translated_name(p_state.texts[v_first + 1]) else 'msg' end
    );
  elsif p_class = 'extract' and v_end > v_first + 1 then
    p_state := logloom_private.translated_extract(p_state);
    p_state.stages := concat_ws(' ', p_state.stages, p_state.meant);
  elsif p_class = 'math' then
    p_state := logloom_private.translated_math(p_state);
  elsif p_class = 'fields' or v_word ~ '^\.[a-z_.]+$' and v_end = v_first + 1 then
    v_keys := case when v_word in ('line_format', 'jq') then array(
      select m[1] from regexp_matches(
        logloom_private.translation_text(p_state, v_first + 1, v_end - 1), '\.([A-Za-z_]\w*)', 'g'
      ) m
    ) else array(
      select t from unnest(
        p_state.texts[v_first + (v_word not like '.%')::integer:v_end - 1]
      ) with ordinality u (t, n)
      where t ~ '^(?:["`]?[@.]?[[:alpha:]_]|@")' and t <> all (p_state.evals) order by n
    ) end;
    p_state.columns := v_keys;
    if v_has_counts or v_next like '-%' or '(' = any (p_state.texts[v_first:v_end]) then
      p_state.columns := '{}';
      -- The aggregates already return these columns, so the stage is not needed.
      p_state.meant := case when v_has_counts and v_keys <@ (
        p_state.keys || logloom_private.translated_names(p_state) || '{count,_time,n}'::text[]
        || array(select ltrim(k, '@') from unnest(p_state.keys) k)
      ) then '' end;
    end if;
  elsif v_word = 'unwrap' then
    p_state.columns := array[case when p_state.texts[v_first + 2] = '('
      then p_state.texts[v_first + 3] else p_state.texts[v_first + 1] end];
  elsif p_class = 'grep' then
    p_state.said := p_state.said
      || array(select t from unnest(p_state.texts[v_first:v_end]) t where t ~ '^-[cvihrnowEFP]+$');
    p_state.terms := concat_ws(
      ' ', nullif(v_terms, ''),
      logloom_private.translated_grep(p_state.texts[v_first + 1:v_end - 1])
    );
    if v_next ~ '^-[a-z]*c' then
      p_state.counts := '{count()}';
    end if;
  elsif not v_has_counts and p_class is distinct from 'shell' and (
    p_class = 'terms' or v_word ~ e'^["''`\x01]'
    or v_next ~ '^(?:[<>=!~:].*|like|in|contains|has|not|is|between|and|or)$'
  ) then
    if v_word in ('contains', 'test') and v_next = '(' then
      p_state.texts[v_first] := case v_word when 'test' then 'match' else 'has' end;
    end if;
    p_state := logloom_private.translated_terms(p_state, '{}');
    if p_state.stages <> '' then
      p_state.stages := p_state.stages || coalesce(' | where ' || nullif(p_state.terms, ''), '');
      p_state.terms := v_terms;
    elsif v_terms <> '' and p_state.terms <> '' then
      p_state.terms := regexp_replace(v_terms, '^(.* OR .*)$', '(\1)') || ' '
        || regexp_replace(p_state.terms, '^(.* OR .*)$', '(\1)');
    else
      p_state.terms := v_terms || p_state.terms;
    end if;
  elsif p_class = 'shell' then
    -- journalctl -u sshd --since "1 hour ago", kubectl logs web-1
    v_text := logloom_private.translation_text(p_state, v_first, v_end - 1, 200);
    p_state.said :=
      p_state.said || '{-u,-p,-f,--since,logs}'::text[] || substring(v_text from '--since.*')
        || substring(v_text from '^kubectl logs .*?([a-z]+)/');
    p_state.terms := concat_ws(
      ' ', nullif(v_terms, ''), 'service:' || substring(
        v_text from '(?:-u |^kubectl logs (?:-\w+ )*(?:deploy|svc|service|sts|job)\w*/)([\w-]+)'
      ),
      'host:' || substring(v_text from '^[kd]\w+ logs (?:-\w+ )*(?:pod/)?([a-z][\w-]*)(?![\w/-])'),
      'level:' || substring(v_text from '-p ([a-z]+)'),
      'ts:-'
        || logloom_private.translated_width(substring(v_text from '--since[ =]"?(\d+ ?[a-z]+)')),
      'ts:>=' || logloom_private.translated_time(
        substring(v_text from '--since[ =]"?(today|yesterday|\d{4}-\d\d-\d\d)')
      )
    );
  else
    p_state.meant := null;
  end if;
  return p_state;
end;
$$;

-- Reads one stage. The state is at its first word.
create function logloom_private.translated_stage(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant integer := p_state."at";
  v_end constant integer := logloom_private.translated_stage_end(p_state);
  v_class constant text :=
    logloom_private.word_class('stage', logloom_private.translation_word(p_state));
  v_state logloom_private.translation := p_state;
  v_text text;
begin
  if v_class in ('json', 'extract', 'math', 'fields', 'grep') then
    v_state := logloom_private.translated_record_stage(p_state, v_class);
  else
    v_state := logloom_private.translated_row_stage(p_state, v_class);
    if v_state.meant is null then
      v_state := logloom_private.translated_record_stage(p_state, v_class);
    end if;
  end if;
  if v_state.meant is null then
    v_text := logloom_private.translation_text(p_state, v_first, v_end - 1, 200);
    v_state.left_out := v_state.left_out || left(v_text, 80);
    -- The names that this stage would make are left out, too: len(msg) as l, label_format l=msg
    v_state.evals := v_state.evals || array(
      select unnest(array[coalesce(m[1], m[2]), '']) from regexp_matches(
        replace(v_text, 'transaction ', 'duration= eventcount= '), '(\w+) ?=(?!=)|\mas (\w+)', 'g'
      ) m
    );
  end if;
  v_state."at" := greatest(v_state."at", v_end);
  return v_state;
end;
$$;
