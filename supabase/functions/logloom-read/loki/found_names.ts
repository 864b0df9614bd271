import type { Ask } from "./ask.ts";
import { selectionOf } from "./logs.ts";
import {
  type FoundField,
  isInternal,
  nameOfField,
  type Names,
  type NamesOf,
  recordField,
} from "./names.ts";
import { Refusal } from "./refusal.ts";
import { parametersOfRange, type TimeRange, wholeSeconds } from "./times.ts";
import { childOf, needed, type Node } from "./tree.ts";

/**
 * The attributes that each expression of a query, or `more`, may mean by names of their own, as the records have them
 * that it selects. Nothing is asked where there are no such names.
 */
export async function namesFor(
  tree: Node,
  { start, end }: TimeRange,
  ask: Ask,
  more: readonly string[] = [],
): Promise<NamesOf> {
  const found = new Map<string, Names>();
  const namesOf: NamesOf = (expression) => found.get(selectionOf(expression)) ?? new Map();
  if (!mentionsAttribute(tree) && !more.some(isAttribute)) return namesOf;
  const before = start - BigInt(reachOf(tree)) * 1_000_000_000n;
  const range = parametersOfRange({ start: before > 0n ? before : 0n, end });
  for (const p_query_dsl of new Set(selectionsIn(tree))) {
    const names = new Map<string, string>();
    found.set(p_query_dsl, names);
    for (const { field } of await fieldsOf({ p_query_dsl, ...range }, ask)) {
      const name = nameOfField(field);
      if (field.startsWith("attrs.") && !names.has(name)) names.set(name, field);
    }
  }
  return namesOf;
}

async function fieldsOf(parameters: Record<string, string>, ask: Ask): Promise<FoundField[]> {
  try {
    return await ask<FoundField[]>("list_log_fields", parameters);
  } catch (error) {
    // A view may be closed to it. Its readers name attributes as they are stored.
    if (error instanceof Refusal && error.status === 403) return [];
    throw error;
  }
}

function mentionsAttribute(node: Node): boolean {
  return node.name === "Identifier"
    ? isAttribute(node.text)
    : node.children.some(mentionsAttribute);
}

function isAttribute(name: string): boolean {
  return recordField(name) === undefined && !isInternal(name);
}

function selectionsIn(node: Node): string[] {
  return ["LogExpr", "LogRangeExpr"].includes(node.name)
    ? [selectionOf(node)]
    : node.children.flatMap(selectionsIn);
}

/** Seconds before a step of which a metric reads records. */
function reachOf(node: Node): number {
  if (node.name !== "LogRangeExpr") return Math.max(0, ...node.children.map(reachOf));
  const offset = childOf(node, "OffsetExpr");
  return wholeSeconds(needed(needed(node, "Range"), "Duration").text) +
    (offset === undefined ? 0 : wholeSeconds(needed(offset, "Duration").text));
}
