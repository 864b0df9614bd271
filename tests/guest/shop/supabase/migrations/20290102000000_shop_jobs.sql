select cron.schedule('write_logs', '0 0 1 1 *', 'select 1');
select cron.schedule('run_retention', '0 0 1 1 *', 'select 2');

create table app.measurements (at timestamptz not null, value double precision)
partition by range (at);
select partman.create_parent('app.measurements', 'at', '1 month', p_default_table := false);
