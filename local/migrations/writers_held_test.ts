import assert from "node:assert/strict";
import { changesLogsUnheld } from "./writers_held.ts";

Deno.test("a migration that changes logloom.logs without holding the writers is found", () => {
  const changes = [
    "alter table logloom.logs add column added text;",
    "ALTER TABLE ONLY logloom.logs\n  alter column msg set not null;",
    "create index logs_msg_idx on logloom.logs (msg);",
    "create unique index concurrently x on logloom.logs_2026_11_21 (id);",
    "create trigger x after insert on logloom.logs for each statement execute function f();",
    "create policy x on logloom.logs for select using (true);",
    "create table logloom.logs_2030_01_01 partition of logloom.logs for values from (1) to (2);",
    "drop index logloom.logs_msg_idx;",
    "drop policy x on logloom.logs;",
    "truncate logloom.logs;",
    "update logloom.logs set env = 'x' where env is null;",
    "delete from logloom.logs l where l.env is null;",
    "alter table logloom.tenants add x int; alter table logloom.logs add x int;",
    "create function f() returns int language sql as $$ select 1 $$; drop table logloom.logs_x;",
  ];
  const hold = "select logloom_private.hold_writers();\n\n";
  for (const text of changes) {
    assert.ok(changesLogsUnheld(text), text);
    assert.ok(changesLogsUnheld(text + hold), `${text} held too late`);
    assert.ok(changesLogsUnheld(`-- ${hold}${text}`), `${text} held in a comment`);
    assert.ok(!changesLogsUnheld(hold + text), `${text} held`);
  }
});

Deno.test("a migration that does not change the table needs no hold", () => {
  const others = [
    "alter table logloom_private.settings add column added integer not null default 1;",
    "alter table logloom.retention_runs add x int;",
    "-- alter table logloom.logs add column added text;\nselect 1;",
    "comment on table logloom.logs is 'records';",
    "create or replace function f() returns void language plpgsql as $$\n" +
    "begin\n  delete from logloom.logs l where l.env is null;\nend\n$$;",
  ];
  for (const text of others) assert.ok(!changesLogsUnheld(text), text);
});
