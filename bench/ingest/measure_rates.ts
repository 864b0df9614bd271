import type { Body, Event } from "../support/events.ts";
import { load } from "../support/load.ts";
import { secondsWithClient, used } from "../support/processor.ts";
import { removeAllRecords } from "../support/add_records.ts";
import { percentile } from "../support/report.ts";
import type { BenchStack } from "../support/stack.ts";
import { bulkInsert, copy } from "./copy_and_insert.ts";
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
  /** Microseconds of processor time an event, by phase and process, of all rounds. */
  costs: Map<string, Map<string, number>>;
}

/** Sums up the processor time of each phase, by process. */
class Costs {
  readonly #phases = new Map<string, { seconds: Map<string, number>; events: number }>();

  constructor(readonly bench: BenchStack) {}

  /** Runs a part of a phase; `eventsOf` returns its number of events. */
  async of<T>(phase: string, part: () => Promise<T>, eventsOf: (done: T) => number): Promise<T> {
    const before = await secondsWithClient(this.bench.stack);
    const done = await part();
    const spent = used(before, await secondsWithClient(this.bench.stack));
    const sum = this.#phases.get(phase) ?? { seconds: new Map(), events: 0 };
    for (const [name, seconds] of spent) {
      sum.seconds.set(name, (sum.seconds.get(name) ?? 0) + seconds);
    }
    sum.events += eventsOf(done);
    this.#phases.set(phase, sum);
    return done;
  }

  /** Microseconds an event. */
  get all(): Map<string, Map<string, number>> {
    return new Map(
      [...this.#phases].map(([phase, { seconds, events }]) => [
        phase,
        new Map([...seconds].map(([name, value]) => [name, value * 1e6 / events])),
      ]),
    );
  }
}

/**
 * Measures each part separately, with the writer paused. The parts take turns and medians count, so that other work on
 * the machine affects all parts alike.
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
  const costs = new Costs(bench);
  let bytesRatio = 0;
  await pauseWriter(bench);
  for (let round = 1; round <= rounds; round++) {
    step(`Round ${round} of ${rounds}: acknowledged over HTTP, writer paused`);
    const acknowledged = await costs.of(
      "acknowledged",
      () =>
        load(
          { connections: 4, seconds: seconds / rounds },
          (n) => send(bodies[n % bodies.length].stamped()),
        ),
      (done) => countEvents(done, bodies),
    );
    const accepted = countEvents(acknowledged, bodies);
    failures.push(...acknowledged.failures);
    measured.acknowledged.push(accepted / acknowledged.seconds);

    step("  writer, queue to partitions");
    await sql`checkpoint`;
    const writerSeconds = await costs.of("writer", () => drain(bench), () => accepted);
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
    measured.copy.push(await costs.of("COPY", () => copy(bench), () => accepted));
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
    costs: costs.all,
  };
}
