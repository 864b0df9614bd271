import { Failure } from "../../local/exit_on_failure.ts";

export interface Load {
  /** Requests answered with 200. */
  answered: number;
  seconds: number;
  /** Milliseconds of each answered request. */
  latencies: number[];
  /** Answers other than 200, by status. */
  failures: Map<number, number>;
}

/**
 * Sends requests on `connections` connections until `seconds` are over or `count` are sent. Awaits `pause` before each
 * request, which sets the rate.
 */
export async function load(
  options: { connections: number; seconds: number; count?: number; pause?: () => Promise<void> },
  request: (n: number) => Promise<Response>,
): Promise<Load> {
  const latencies: number[] = [];
  const failures = new Map<number, number>();
  const started = performance.now();
  const end = started + options.seconds * 1000;
  let next = 0;
  const connection = async () => {
    while (performance.now() < end && next < (options.count ?? Infinity)) {
      await options.pause?.();
      const sent = performance.now();
      const response = await request(next++);
      await response.arrayBuffer();
      if (response.status === 200) latencies.push(performance.now() - sent);
      else failures.set(response.status, (failures.get(response.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: options.connections }, connection));
  if (latencies.length === 0) {
    const statuses = [...failures].map(([status, count]) => `${count} × ${status}`).join(", ");
    throw new Failure(`No request was answered 200 (${statuses}).`);
  }
  const seconds = (performance.now() - started) / 1000;
  return { answered: latencies.length, seconds, latencies, failures };
}

/** Spreads requests evenly: at most `perSecond` start within a second. */
export function pace(perSecond: number): () => Promise<void> {
  const started = performance.now();
  let slot = 0;
  return async () => {
    const due = started + (slot++ * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  };
}
