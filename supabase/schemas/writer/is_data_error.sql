-- Whether an error says that the event cannot be written, not that the database cannot write now.
create function logloom_private.is_data_error(p_sqlstate text)
returns boolean
language sql
immutable
-- Connection, rollback, access rule, resources, object state, operator, system, internal:
-- not the event's fault, so the step is repeated later.
return left(p_sqlstate, 2) not in ('08', '25', '40', '42', '53', '55', '57', '58', 'XX');
