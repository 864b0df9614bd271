-- What is meant by a term whose field another language has, or null: _exists_:user_id,
-- !level:debug, status:error, *:text, _time:5m.
create function logloom_private.query_meant_term(p_name text, p_value text)
returns text
language sql
immutable
return case
  when p_name in ('_exists_', '_missing_') and p_value ~ '^@?[[:alpha:]_]'
    then case p_name when '_missing_' then '-' else '' end
      || logloom_private.query_meant_name(p_value) || ':*'
  when p_name ~ '^!.' and p_value <> ''
    then '-' || logloom_private.query_meant_name(substr(p_name, 2)) || ':' || left(p_value, 60)
  when p_name = 'status' and p_value ~* '^(?:debug|info|warn|warning|error|critical)$'
    then 'level:' || p_value
  when p_name = '*' and p_value <> '' then 'any:' || left(p_value, 60)
  when p_name = '_time' and p_value ~ '^[1-9][0-9]{0,9}[smhdw]$' then 'ts:-' || p_value
end;
