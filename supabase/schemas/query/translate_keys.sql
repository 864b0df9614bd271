-- Translates the fields and the width after "by".
create function logloom_private.translated_keys(
  p_state logloom_private.translation,
  p_stops text[]
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word text;
  v_token text;
  v_end integer;
  v_times constant text[] := '{_time,ts,time,timestamp,@timestamp}';
  -- by (service) count()
  v_close constant integer := case p_state.texts[p_state."at"]
    when '(' then logloom_private.translation_close(p_state.texts, p_state."at") end;
begin
  loop
    v_word := logloom_private.translation_word(p_state);
    exit when p_state."at" > v_close and p_state.texts[v_close + 1] <> ','
      or v_word in ('limit', 'top', 'head') and p_state.texts[p_state."at" + 1] ~ '^[0-9]'
      or v_word in ('', '|', 'having', 'sort', 'where', 'with', 'order', '>', '<', '>=')
      or v_word = any (p_stops);
    v_end := p_state."at";
    v_token := null;
    if p_state.texts[v_end + 1] = '(' and v_word ~ '^\.?[a-z_][a-z_0-9]*$'
      and v_word not in ('by', 'over', 'group')
    then
      v_end := logloom_private.translation_close(p_state.texts, v_end + 1);
      if logloom_private.is_width_function(v_word) then
        -- bin(ts, 5m), date_trunc('hour', ts), hour(ts)
        p_state.width := logloom_private.translated_width_in(
          array_to_string(p_state.texts[p_state."at" + 2:v_end - 1], ' ') || ' ' || v_word
        );
      elsif logloom_private.word_class('call', v_word) = 'wrap' then
        v_token := (
          select t from unnest(p_state.texts[p_state."at" + 2:v_end - 1]) t
          where t ~ '^[@.]?[[:alpha:]_]' limit 1
        );
      end if;
    elsif p_state.texts[v_end + 1] in ('=', ':')
      and v_word = any (v_times || '{span,interval,step}'::text[])
    then
      v_end := v_end + 2;
      p_state.width := logloom_private.translated_width_in(p_state.texts[v_end]);
    elsif p_state.texts[v_end + 1] = '=' then
      -- limit=5, useother=f, n=lower(host)
      v_end := v_end + 1 + (p_state.texts[v_end + 2] ~ '^(?:[0-9]+|t|f|true|false)$')::integer;
    elsif v_word = 'as' then
      v_end := v_end + 1;
    elsif v_word ~ '^[1-9]' then
      -- by 5m, by 5 minutes
      v_end := v_end
        + (logloom_private.translated_width('1' || p_state.texts[v_end + 1]) is not null)::integer;
      p_state.width := coalesce(
        logloom_private.translated_width(array_to_string(p_state.texts[p_state."at":v_end], '')),
        p_state.width
      );
      -- group by 1: all columns of a SELECT that are no aggregates
      p_state.said := p_state.said || substring(v_word from '^.$');
      p_state.keys := p_state.keys || array(
        select logloom_private.translated_key(p_state, c) from unnest(p_state.columns) c
        where length(v_word) = 1
      );
    elsif v_word = any (v_times) then
      p_state.width := coalesce(p_state.width, '5m');
    elsif logloom_private.is_width_function(v_word) then
      p_state.width := logloom_private.translated_width_in(v_word);
    elsif v_word not in ('by', 'over', 'group', 'asc', 'desc', 'and', 'every', 'per') then
      v_token := p_state.texts[v_end];
    end if;
    if v_token ~ '^["`]?[@.]?[[:alpha:]_]'
      and (array_position(p_state.evals, v_token) is null
        or logloom_private.translated_alias(p_state, v_token) <> v_token)
    then
      p_state.keys := p_state.keys || logloom_private.translated_key(p_state, v_token);
    end if;
    p_state."at" := v_end + 1;
  end loop;
  p_state.keys := array(
    select k from unnest(p_state.keys) with ordinality u (k, n) where k <> ''
    group by k order by min(n)
  );
  return p_state;
end;
$$;
