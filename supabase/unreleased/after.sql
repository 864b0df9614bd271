-- What a query compiles to has changed.
delete from logloom_private.alert_plans where true;
