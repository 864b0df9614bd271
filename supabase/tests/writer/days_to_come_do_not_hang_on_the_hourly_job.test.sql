begin;
select plan(2);

do $$
begin
  for i in 0..1 loop
    execute format('drop table app.%I', private.partition_name(private.utc_day(now()) + i));
  end loop;
end;
$$;
select private.provide_partitions();
select ok(
  private.partition_exists(private.utc_day(now())), 'the writer makes today''s partition'
);
select ok(
  private.partition_exists(private.utc_day(now()) + 1), 'and tomorrow''s'
);

select * from finish();
rollback;
