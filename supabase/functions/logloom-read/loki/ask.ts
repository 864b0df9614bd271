import type { Reader } from "../caller.ts";
import type { ReadDatabase } from "../database.ts";
import { rewrites, withTexts } from "../../_shared/exact_numbers.ts";
import { Refusal, refuse } from "./refusal.ts";

/** Of log_stats. */
export interface Row {
  readonly group: Readonly<Record<string, string | null>>;
  readonly value: number | null;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly total_groups: number;
}

/** Calls a reading operation and throws what it refuses. */
export type Ask = <T>(operation: string, parameters: Record<string, unknown>) => Promise<T>;

/** Each metric within a query is read apart, and each thousand steps of it. */
const maxCalls = 100;
const maxMs = 30_000;

export function asking(reader: Reader, callDatabase: ReadDatabase): Ask {
  const began = performance.now();
  let calls = 0;
  return async <T>(operation: string, parameters: Record<string, unknown>) => {
    if (++calls > maxCalls) refuse("query too complex: it reads too much apart");
    if (performance.now() - began > maxMs) {
      throw new Refusal(408, "The query took too long: narrow it, or its range of time");
    }
    const answer = await callDatabase(reader, operation, JSON.stringify(parameters));
    // Numbers of records are shown by their own texts, by which filters find them.
    if (answer.status === 200) {
      return (operation === "search_logs"
        ? JSON.parse(withTexts(await answer.text(), rewrites))
        : await answer.json()) as T;
    }
    throw await refusalOf(answer);
  };
}

/** An error of ours in Loki's form. */
export async function refusalOf(answer: Response): Promise<Refusal> {
  const { message, hint } = await answer.json().catch(() => ({}));
  const headers = ["Retry-After", "WWW-Authenticate"].flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const said = [message, hint].filter((text) => typeof text === "string" && text !== "");
  return new Refusal(answer.status, said.join("\n"), Object.fromEntries(headers));
}
