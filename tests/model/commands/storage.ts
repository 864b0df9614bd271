import assert from "node:assert/strict";
import fc from "fast-check";
import { eventually } from "../../support/eventually.ts";
import { days, filter, rangeOf } from "../arbitrary.ts";
import { assertComplete } from "../assertions.ts";
import { command } from "../command.ts";
import { pastDays, sealOf, sealSql } from "../sealing.ts";
import type { Service } from "../service.ts";
import { matching, today } from "../tenant_model.ts";

const seal = command("seal", {
  first: fc.nat(),
  count: fc.integer({ min: 1, max: 4 }),
  merges: fc.boolean(),
}, async (at, { first, count, merges }) => {
  const { service, real: { owner } } = at;
  const days = pastDays(at, first, count);
  await service.settle();
  if (days.length === 0) return;
  await service.asOwner(sealSql(owner.id, days, merges));
  const [{ rows }] = await service.sql`
    select count(*)::integer as rows from logloom.logs l
    where l.tenant_id = ${owner.id} and logloom_private.utc_day(l.ts) = any(${`{${
    days.join(",")
  }}`}::text::date[])`;
  assert.equal(rows, 0);
});

const unseal = command("unseal", { which: fc.nat() }, async (at, { which }) => {
  await sealOf(at, which, "unseal");
});

/** The day's partition gives its space back, where the job would have it do so. */
const replace = command("replace", {}, async ({ service }) => {
  await service.asOwner(
    "select logloom_private.replacement_step(now() + interval '1 minute') from generate_series(1, 4)",
  );
});

const erase = command("erase", { filter, days }, async (at, { filter, days }) => {
  const { known, real, service } = at;
  await service.settle();
  const range = rangeOf(days);
  const gone = known.found(filter, range, today());
  const request = {
    p_query_dsl: filter,
    p_ts_from: new Date(range.from).toISOString(),
    p_ts_to: new Date(range.to).toISOString(),
  };
  const counted = await real.asOwner.call("delete_logs", request);
  assert.deepEqual([counted.status, counted.records], ["done", gone.length]);
  const { run_id } = await real.asOwner.call("delete_logs", { ...request, p_dry_run: false });
  const receipt = await eventually("the erasure is done", async () => {
    await service.asOwner("call logloom_private.run_job('run_deletions')");
    const runs = await real.asOwner.call("list_log_retention_runs", { p_kind: "erasure" });
    return runs.find((run) => run.run_id === run_id && !["queued", "running"].includes(run.status));
  });
  // What is past the retention and still stored goes with them.
  const expired = matching(known.expired, filter).filter(({ ts }) =>
    ts >= range.from && ts < range.to
  );
  assert.equal(receipt.status, "done");
  assert.ok(
    receipt.records >= gone.length && receipt.records <= gone.length + expired.length,
    `${receipt.records} records of ${gone.length} and up to ${expired.length} expired ones`,
  );
  known.forget(gone);
  await assertComplete(at);
});

async function retentionIsOver({ sql }: Service): Promise<void> {
  await eventually("retention is over", async () => {
    const [{ is_over }] = await sql`
      select not exists (
        select from logloom_private.retention_place p where p.finished_at is null
      ) as is_over`;
    return is_over;
  });
}

/** What is older goes from every answer at once, and with the next run from storage, but for what shares a block. */
const shorten = command("shorten retention", {
  days: fc.oneof(fc.integer({ min: 8, max: 30 }), fc.integer({ min: 1, max: 30 })),
}, async (at, { days }) => {
  const { known, real, service } = at;
  await service.settle();
  // Longer again, it would show what is still in storage.
  const isShorter = days < known.retentionDays;
  if (isShorter) known.retentionDays = days;
  const { pipeline_config } = await real.asOwner.call("update_tenant_settings", {
    pipeline_config: { retention_days: known.retentionDays },
  });
  assert.deepEqual(pipeline_config, { retention_days: known.retentionDays, compression: true });
  await assertComplete(at);
  if (!isShorter) return;
  // The day's own run may be past the days that this one shortens.
  await retentionIsOver(service);
  await service.asOwner("select logloom_private.begin_retention(logloom_private.utc_day(now()))");
  await service.asOwner("call logloom_private.run_job('run_retention')");
  await retentionIsOver(service);
  const expired = known.records.filter(({ ts }) => !known.keeps(ts, today()));
  known.expired.push(...expired);
  known.forget(expired);
  await assertComplete(at);
});

export const upkeep = { seal, unseal, replace, erase, shorten };
