-- Whether so many records are expected to take 20 ms at most.
create function logloom_private.is_cheap(p_records bigint, p_ms_per_record double precision)
returns boolean
language sql
immutable
return p_records <= 5000 and p_records * coalesce(p_ms_per_record, 0.02) <= 20;
