import type { Body, Event } from "../support/events.ts";
import { load } from "../support/load.ts";
import { removeAllRecords } from "../support/records.ts";
import { percentile } from "../support/report.ts";
import type { BenchStack } from "../support/stack.ts";
import { bulkInsert, copy } from "./peers.ts";
import { countBytes, countEvents, type Send } from "./requests.ts";
import { drain, pauseWriter } from "./writer.ts";

const rounds = 3;

export interface Rates {
  /** Events or rows a second, each the median of the rounds. */
  acknowledged: number;
  writer: number;
  copy: number;
  bulk: number;
  /** Bytes of the partition for each byte of JSON, the maximum of all rounds. */
  bytesRatio: number;
  failures: [number, number][];
}

/**
 * Each part on its own, with the writer paused. Parts take turns and medians count, so that other work on the machine
 * affects all of them alike.
 */
export async function measureRates(
  bench: BenchStack,
  send: Send,
  bodies: Body[],
  events: Event[],
  seconds: number,
  step: (text: string) => void,
): Promise<Rates> {
  const { sql } = bench;
  const measured = {
    acknowledged: [] as number[],
    writer: [] as number[],
    copy: [] as number[],
    bulk: [] as number[],
  };
  const failures: [number, number][] = [];
  let bytesRatio = 0;
  await pauseWriter(bench);
  for (let round = 1; round <= rounds; round++) {
    step(`Round ${round} of ${rounds}: acknowledged over HTTP, writer paused`);
    const acknowledged = await load(
      { connections: 4, seconds: seconds / rounds },
      (n) => send(bodies[n % bodies.length].stamped()),
    );
    failures.push(...acknowledged.failures);
    measured.acknowledged.push(countEvents(acknowledged, bodies) / acknowledged.seconds);

    step("  writer, queue to partitions");
    await sql`checkpoint`;
    const writerSeconds = await drain(bench);
    const [written] = await sql<{ events: number; bytes: number }[]>`
      select
        (select count(*)::integer from logloom.logs) as events,
        (
          select sum(pg_total_relation_size(inhrelid))::float8
          from pg_inherits where inhparent = 'logloom.logs'::regclass
        ) as bytes`;
    measured.writer.push(written.events / writerSeconds);
    bytesRatio = Math.max(bytesRatio, written.bytes / countBytes(acknowledged, bodies));

    step("  COPY of the same events");
    measured.copy.push(await copy(bench));
    await removeAllRecords(sql);

    step("  PostgREST bulk insert into a copy of the table");
    measured.bulk.push(await bulkInsert(bench, events, seconds / rounds));
  }
  return {
    acknowledged: percentile(measured.acknowledged, 0.5),
    writer: percentile(measured.writer, 0.5),
    copy: percentile(measured.copy, 0.5),
    bulk: percentile(measured.bulk, 0.5),
    bytesRatio,
    failures,
  };
}
