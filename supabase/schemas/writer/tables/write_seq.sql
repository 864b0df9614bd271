-- The writer moves batches from the queue to logloom.logs, each exactly once. A step is one
-- transaction: it inserts the records and stores how far the slot was moved. So a record is visible
-- exactly if its batch counts as moved, even if a process is killed.

create sequence logloom_private.write_seq as bigint;

comment on sequence logloom_private.write_seq is
  'Numbers the steps of the writer, in commit order.';
