-- Last of all: PostgREST asks our check before a request, and the jobs run.
select logloom_private.adopt_pre_request();
select logloom_private.schedule_jobs();
