-- The origin of a URL: scheme, host and port.
create function logloom_private.origin_of(p_url text)
returns text
language sql
immutable
return regexp_replace(
  regexp_replace(lower(substring(p_url from '^[^/]*//[^/?#]*')), '^(https://.*):443$', '\1'),
  '^(http://.*):80$', '\1'
);
