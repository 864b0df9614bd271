-- Translates between, at the word itself: between 1 and 2, between (1 .. 2). meant is null if it is
-- something else.
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
