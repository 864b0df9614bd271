import { userToken } from "../../local/signing_keys.ts";
import { processorSeconds } from "./processor.ts";
import { percentile } from "./report.ts";
import type { BenchStack } from "./stack.ts";

export type Parameters = Record<string, string | number>;

export interface Question {
  name: string;
  operation: string;
  parameters: Parameters;
}

/**
 * The milliseconds of a question: median and p95 over HTTP, and PostgreSQL's processor time. Infinity if the operation
 * exceeds its time limit.
 */
export interface Measured {
  median: number;
  p95: number;
  processor: number;
}

/** Asks each question as users of the tenants in turn: once to warm up, then `runs` times. */
export async function measure(
  bench: BenchStack,
  asked: Question[],
  runs: number,
  tenants: string[],
): Promise<Measured[]> {
  const tokens = tenants.map((tenant) => userToken("11111111-1111-4111-8111-111111111111", tenant));
  const figures: Measured[] = [];
  const processor = async () =>
    1000 * [...await processorSeconds(bench.stack)].reduce((sum, [, seconds]) => sum + seconds, 0);
  for (const { name, operation, parameters } of asked) {
    const times: number[] = [];
    let before = 0;
    for (let run = 0; run <= runs; run++) {
      if (run === 1) before = await processor();
      const sent = performance.now();
      const response = await fetch(`${bench.state.url}/rest/v1/rpc/${operation}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${tokens[run % tokens.length]}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(parameters),
      });
      const text = await response.text();
      // The first call warms up and does not count.
      if (response.ok && run > 0) times.push(performance.now() - sent);
      if (response.ok) continue;
      if (JSON.parse(text).code !== "PT408") throw new Error(`${name}: ${text}`);
      times.push(Infinity);
      break;
    }
    figures.push({
      median: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      processor: times.includes(Infinity) ? Infinity : (await processor() - before) / runs,
    });
  }
  return figures;
}
