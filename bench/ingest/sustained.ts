import type { Body } from "../support/events.ts";
import { type Load, load, pace } from "../support/load.ts";
import { secondsWithClient, used } from "../support/processor.ts";
import { memory } from "../support/memory.ts";
import type { BenchStack } from "../support/stack.ts";
import type { Send } from "./requests.ts";
import { drain, queueDepth } from "./writer.ts";

interface Sample {
  seconds: number;
  /** Events acknowledged so far. */
  acknowledged: number;
  /** The average number of events in the queue, for each quarter of the time. */
  depth: number;
}

/** Returns how many events a second became visible: acknowledged and no longer queued. */
function rateOfVisible(samples: Sample[]): number {
  const [first, last] = [samples[0], samples[samples.length - 1]];
  const visible = last.acknowledged - last.depth - (first.acknowledged - first.depth);
  return visible / (last.seconds - first.seconds);
}

function average(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

export interface Sustained {
  load: Load;
  acknowledged: number;
  stored: number;
  /** Events a second that became visible, once the rate is steady. */
  visibleRate: number;
  /** The average number of events in the queue, for each quarter of the time. */
  depths: number[];
  memoryEarly: Map<string, number> | undefined;
  memoryLate: Map<string, number>;
  /** Microseconds of processor time an acknowledged event, by process. */
  costs: Map<string, number>;
}

/** Sends at a steady rate and measures how many events become visible meanwhile. */
export async function sustain(
  bench: BenchStack,
  send: Send,
  bodies: Body[],
  { seconds, eventsPerSecond }: { seconds: number; eventsPerSecond: number },
): Promise<Sustained> {
  const nth = (n: number) => bodies[n % bodies.length];
  let memoryEarly: Map<string, number> | undefined;
  const earlySample = setTimeout(
    async () => memoryEarly = await memory(bench.state),
    seconds * 250,
  );
  const before = await secondsWithClient(bench.stack);
  const began = performance.now();
  let acknowledged = 0;
  const samples: Sample[] = [];
  const probe = setInterval(async () => {
    // Reads both numbers as close together as possible.
    const sample = { acknowledged, seconds: (performance.now() - began) / 1000 };
    samples.push({ ...sample, depth: await queueDepth(bench) });
  }, 250);
  const done = await load(
    { connections: 4, seconds, pause: pace(eventsPerSecond / eventsPerBody(bodies)) },
    async (n) => {
      const answer = await send(nth(n).stamped());
      if (answer.status === 200) acknowledged += nth(n).events;
      return answer;
    },
  );
  const spent = used(before, await secondsWithClient(bench.stack));
  clearInterval(probe);
  clearTimeout(earlySample);
  const memoryLate = await memory(bench.state);
  await drain(bench);
  const [{ stored }] = await bench.sql<{ stored: number }[]>`
    select count(*)::integer as stored from logloom.logs`;
  const steady = samples.filter(({ seconds }) => seconds >= 5);
  const quarters = [0, 1, 2, 3].map((n) =>
    steady.slice(n * steady.length / 4, (n + 1) * steady.length / 4)
  );
  return {
    load: done,
    acknowledged,
    stored,
    visibleRate: rateOfVisible(steady),
    depths: quarters.map((part) => average(part.map(({ depth }) => depth))),
    memoryEarly,
    memoryLate,
    costs: new Map([...spent].map(([name, value]) => [name, value * 1e6 / acknowledged])),
  };
}

export function eventsPerBody(bodies: Body[]): number {
  return bodies.reduce((sum, body) => sum + body.events, 0) / bodies.length;
}
