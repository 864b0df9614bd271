import assert from "node:assert/strict";
import fc from "fast-check";
import { health, isReady } from "../../support/client.ts";
import { shiftClock } from "../../support/shift_clock.ts";
import { openDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { killPart, type ProcessName, signalIfThere } from "../../support/processes.ts";
import { drafts } from "../random_values.ts";
import { assertComplete } from "../assertions.ts";
import { type At, command } from "../command.ts";
import { send } from "./sending.ts";

/** Makes jobs believe that the clock was set. Later events must still be written. */
const clock = command(
  "set the clock",
  { by: fc.constantFrom("1 hour", "-1 hour") },
  async ({ service }, { by }) => {
    await shiftClock(service.sql, by);
  },
);

const parts = ["ingest", "postgrest", "gateway", "postgres", "a backend"] as const;

/** Kills a part during a request, which is repeated until it is acknowledged. */
const kill = command(
  "kill",
  { part: fc.constantFrom(...parts), drafts },
  async (at, { part, drafts }) => {
    if (part === "a backend") {
      await killBackend(at);
      await send(at, at.real.owner.headers, drafts);
    } else {
      await at.service.disconnect();
      const sending = send(at, at.real.owner.headers, drafts);
      // The request is awaited below, unless the part does not come back.
      sending.catch(() => {});
      const back = await killPart(part as ProcessName);
      await sending;
      await back();
    }
    await isReady();
    await assertComplete(at);
    kills.count += 1;
  },
);

/** The number of killed parts in all runs of this process. */
export const kills = { count: 0 };

/** Kills a backend of PostgREST. The server then ends all others, too. */
async function killBackend({ service }: At): Promise<void> {
  const [found] = await service.sql<{ pid: number }[]>`
    select pid from pg_stat_activity
    where backend_type = 'client backend' and usename = 'authenticator'
    order by random() limit 1`;
  const witness = openDatabase(undefined, 1, { isCut: true });
  const cut = witness`select pg_sleep(600)`.catch(() => {});
  await eventually("the witness is connected", async () => {
    const [row] = await service.sql`
      select from pg_stat_activity where query = 'select pg_sleep(600)'`;
    return row !== undefined;
  });
  await service.disconnect();
  const isKilled = found !== undefined && signalIfThere(found.pid, "SIGKILL");
  if (isKilled) await cut;
  await witness.end({ timeout: 0 });
}

const healthy = command("ask for health", {}, async () => {
  await eventually("health is healthy", async () => {
    const { status, body } = await health("/ready");
    return status === 200 && body.status === "healthy";
  });
  assert.equal((await health()).status, 200);
});

export const trouble = { clock, kill, healthy };
