import type { Body } from "../support/events.ts";
import { load, pace } from "../support/load.ts";
import type { BenchStack } from "../support/stack.ts";
import { post } from "./requests.ts";

/** Measures the milliseconds from the answer to a marked event until the event is in its partition. */
export async function measureDelays(
  bench: BenchStack,
  key: string,
  bodies: Body[],
  requestsPerSecond: number,
  seconds: number,
): Promise<number[]> {
  const { sql, state } = bench;
  const url = `${state.url}/functions/v1/ingest`;
  const background = load(
    { connections: 4, seconds, pause: pace(requestsPerSecond) },
    (n) => post(url, key, bodies[n % bodies.length].stamped()),
  );
  const delays: number[] = [];
  const end = performance.now() + seconds * 1000;
  const encoder = new TextEncoder();
  const probe = async (probeNumber: number) => {
    for (let n = 0; performance.now() < end; n++) {
      const mark = `mark-${probeNumber}-${n}`;
      const ts = new Date();
      const body = encoder.encode(JSON.stringify({ ts: ts.toISOString(), msg: mark }));
      await (await post(url, key, body)).body?.cancel();
      const answered = performance.now();
      const isVisible = async () => {
        const [{ visible }] = await sql<{ visible: boolean }[]>`
          select exists (
            select from logloom.logs l
            where l.tenant_id = 'bench' and l.ts = ${ts} and l.msg = ${mark}
          ) as visible`;
        return visible;
      };
      while (!(await isVisible())) await new Promise((resolve) => setTimeout(resolve, 20));
      delays.push(performance.now() - answered);
    }
  };
  await Promise.all([0, 1, 2].map(probe));
  await background;
  if (delays.length === 0) throw new Error("no marked event became visible");
  return delays;
}
