-- What was accepted, per tenant and UTC day, and what follows from it: quotas and rates.
--
-- Counted when a slot of the queue closes, in the writer's transaction, so that no request waits
-- for a counter. What the writer has not counted yet is counted where it lies, in the queue.

create type public.logloom_usage_day as (day date, events bigint, bytes bigint);

comment on type public.logloom_usage_day is 'Events and bytes that were accepted on a UTC day.';
