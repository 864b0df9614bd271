-- The user of the request: the claim sub.
create function logloom_private.current_user_id()
returns text
language sql
stable
return logloom_private.claims() ->> 'sub';
