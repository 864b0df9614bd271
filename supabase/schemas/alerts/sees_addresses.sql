-- Whether who lists alerts may see where they are sent: addresses are secrets, which who only reads
-- has no use for.
create function logloom_private.sees_addresses(p_scope logloom_private.reading_scope)
returns boolean
language sql
stable
return p_scope.kind is not distinct from 'token' and p_scope.view_id is null
  and logloom_private.reads_only(logloom_private.claims()) is not true;
