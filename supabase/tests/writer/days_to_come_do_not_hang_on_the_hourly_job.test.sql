begin;
select plan(2);

do $$
begin
  for i in 0..1 loop
    execute format(
      'drop table logloom.%I', logloom_private.partition_name(logloom_private.utc_day(now()) + i)
    );
  end loop;
end;
$$;
select logloom_private.provide_partitions();
select ok(
  logloom_private.partition_exists(logloom_private.utc_day(now())),
    'the writer makes today''s partition'
);
select ok(
  logloom_private.partition_exists(logloom_private.utc_day(now()) + 1), 'and tomorrow''s'
);

select * from finish();
rollback;
