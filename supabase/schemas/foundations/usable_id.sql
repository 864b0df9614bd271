-- The id of a tenant or a user where it can name one: 1 to 255 characters without a control
-- character, and one that prints something in some script. Null otherwise.
create function logloom_private.usable_id(p_id text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if length(p_id) between 1 and 255
    and p_id !~ '[\u0001-\u001f\u007f-\u009f]'
    and p_id ~ (
      '[^\u0020\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f'
      '\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb'
      '\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
    )
  then
    return p_id;
  end if;
  return null;
end;
$$;
