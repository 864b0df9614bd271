-- This comes last: from here on PostgREST calls our check before each request, and the jobs run.
select logloom_private.adopt_pre_request();
select logloom_private.schedule_jobs();
