-- Accepted events and bytes, per tenant and UTC day. The writer counts them when it moves batches:
-- no request waits for a counter. usage_of adds the batches that are not counted yet.

create type public.logloom_usage_day as (day date, events bigint, bytes bigint);

comment on type public.logloom_usage_day is 'Events and bytes that were accepted on a UTC day.';
