import type { Row } from "./call_operation.ts";
import { namesFor } from "./attribute_names.ts";
import { LogQuery } from "./logql_query.ts";
import type { Request } from "./query_endpoints.ts";
import { Refusal, refuse } from "./loki_error.ts";
import { parseLogql } from "./syntax_tree.ts";
import { parametersOfRange, rangeOf } from "./times_and_durations.ts";

/**
 * Returns a request's range and its selector as a query. Without a selector the query finds all records. `more`:
 * further label names to look up as attributes.
 */
export async function asked(
  request: Request,
  selector = request.parameters.get("query") ?? "",
  more: readonly string[] = [],
) {
  const { parameters, now, ask } = request;
  const range = rangeOf(parameters, now);
  const p = parametersOfRange(range);
  const tree = /^\s*(?:\{\s*\})?\s*$/.test(selector)
    ? parseLogql(`{__all__=~".*"}`)
    : parseLogql(selector);
  const expression = tree.children[0]?.children[0];
  if (expression?.name !== "LogExpr") refuse("only a selector of records is allowed here");
  const namesOf = await namesFor(tree, range, ask, more);
  return { range, p, logs: new LogQuery(expression, namesOf(expression)) };
}

/** Aggregates over the records that a query finds. */
export async function stats(
  logs: LogQuery,
  aggregates: string,
  p: Record<string, unknown>,
  ask: Request["ask"],
): Promise<Row[]> {
  return await ask<Row[]>("log_stats", { p_query_dsl: `${logs.dsl} | ${aggregates}`, ...p });
}

const aggregatesAtOnce = 10;

/** The number of values of each field. A hidden field is left out. */
export async function cardinalitiesOf(
  fields: readonly string[],
  logs: LogQuery,
  p: Record<string, string>,
  ask: Request["ask"],
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let at = 0; at < fields.length; at += aggregatesAtOnce) {
    const some = fields.slice(at, at + aggregatesAtOnce);
    const counts = some.map((field, n) => `count_distinct(${field}) as n${n}`).join(", ");
    try {
      const [row] = await stats(logs, counts, p, ask);
      some.forEach((field, n) =>
        found.set(field, Number(some.length === 1 ? row?.value : row?.values?.[`n${n}`]))
      );
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 400) throw error;
      // The fault may be in the selector itself.
      if (some.length === 1) await stats(logs, "count()", p, ask);
      else {
        for (const field of some) {
          (await cardinalitiesOf([field], logs, p, ask)).forEach((n) => found.set(field, n));
        }
      }
    }
  }
  return found;
}

/** The warning of an answer that is not complete. */
export function cut(rows: readonly Row[], what: string): { warnings?: string[] } {
  const total = rows[0]?.total_groups ?? 0;
  return total > rows.length
    ? { warnings: [`Only ${rows.length} of ${total} ${what}: narrow the selector or the range.`] }
    : {};
}
