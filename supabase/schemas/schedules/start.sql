-- Comes last: PostgREST now calls our check before each request, and the jobs run.
select logloom_private.adopt_pre_request();
select logloom_private.schedule_jobs();
