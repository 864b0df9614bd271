import type { Reader } from "../reader.ts";
import type { ReadDatabase } from "../database.ts";
import { rewrites, withTexts } from "../../_shared/exact_numbers.ts";
import { Refusal, refuse } from "./loki_error.ts";

/** A row of log_stats. */
export interface Row {
  readonly group: Readonly<Record<string, string | null>>;
  readonly value: number | null;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly total_groups: number;
}

/** Calls a reading operation. Throws a Refusal if it is refused. */
export type Ask = <T>(operation: string, parameters: Record<string, unknown>) => Promise<T>;

/** The most calls of a query. Each metric in it needs a call of its own for each thousand steps. */
const maxCalls = 100;
const maxMs = 30_000;

export function asking(reader: Reader, callDatabase: ReadDatabase): Ask {
  const began = performance.now();
  let calls = 0;
  return async <T>(operation: string, parameters: Record<string, unknown>) => {
    if (++calls > maxCalls) refuse(`query too complex: it needs more than ${maxCalls} reads`);
    if (performance.now() - began > maxMs) {
      throw new Refusal(408, "The query took too long: narrow it or its time range");
    }
    const answer = await callDatabase(reader, operation, JSON.stringify(parameters));
    // Numbers of records keep their text as stored, because filters compare with it.
    if (answer.status === 200) {
      return (operation === "search_logs"
        ? JSON.parse(withTexts(await answer.text(), rewrites))
        : await answer.json()) as T;
    }
    throw await refusalOf(answer);
  };
}

/** Turns our error into Loki's. */
export async function refusalOf(answer: Response): Promise<Refusal> {
  const { message, hint } = await answer.json().catch(() => ({}));
  const headers = ["Retry-After", "WWW-Authenticate"].flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const said = [message, hint].filter((text) => typeof text === "string" && text !== "");
  return new Refusal(answer.status, said.join("\n"), Object.fromEntries(headers));
}
