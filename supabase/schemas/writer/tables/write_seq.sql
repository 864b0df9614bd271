-- The writer: moves batches from the queue to logloom.logs, exactly once.
--
-- A step is one transaction: insert the records, note how far the slot was moved. So a record is
-- visible when, and only when, its batch counts as moved, whatever is killed when.

create sequence logloom_private.write_seq as bigint;

comment on sequence logloom_private.write_seq is
  'Numbers the steps of the writer, in commit order.';
