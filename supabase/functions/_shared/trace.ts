/** A record as search_logs returns it. */
export interface TraceRecord {
  readonly id: string;
  /** ISO 8601 with microseconds. */
  readonly ts: string;
  readonly level: string | null;
  readonly msg: string | null;
  readonly service: string | null;
  readonly attrs: Readonly<Record<string, unknown>> | null;
}

export interface Span<R extends TraceRecord> {
  readonly record: R;
  /** The span's own id; undefined if its sender gave none. */
  readonly id: string | undefined;
  /** Microseconds since the trace's start. */
  readonly start: number;
  readonly duration: number;
  readonly depth: number;
  readonly isError: boolean;
  /** Whether it names a parent that is not among the records: sampled, lost or not sent yet. */
  readonly lacksParent: boolean;
  /** Whether the trace would have ended earlier if this span had. */
  readonly isCritical: boolean;
  /** The log records that belong to it, in the order of time. */
  readonly logs: readonly R[];
}

export interface Trace<R extends TraceRecord> {
  /** Each parent before its children, siblings in the order of their starts. */
  readonly spans: readonly Span<R>[];
  /** The log records that belong to none of the spans. */
  readonly logs: readonly R[];
  /** The start in microseconds since 1970. */
  readonly start: number;
  /** Microseconds from the first start to the last end. */
  readonly duration: number;
}

interface Node<R extends TraceRecord> {
  record: R;
  id: string | undefined;
  start: number;
  duration: number;
  depth: number;
  isError: boolean;
  lacksParent: boolean;
  isCritical: boolean;
  logs: R[];
  children: Node<R>[];
}

/**
 * Builds the tree of a trace. Its records are those with its id, in any order. Spans that name each other as parents
 * are shown as well: the first of them lacks its parent. Of several spans with one id, the first one in time has the
 * children.
 */
export function traceOf<R extends TraceRecord>(records: readonly R[]): Trace<R> {
  const sorted = records.map((record) => ({ record, at: microsOf(record.ts) }))
    .sort((one, other) => one.at - other.at);
  const start = sorted[0]?.at ?? 0;
  const nodes: Node<R>[] = [];
  const byId = new Map<string, Node<R>>();
  const loose: R[] = [];
  for (const { record, at } of sorted) {
    if (!isSpan(record)) continue;
    const { attrs, level } = record;
    const id = textOf(attrs?.span_id);
    const node: Node<R> = {
      record,
      id,
      start: at - start,
      duration: durationOf(attrs?.duration_ms),
      depth: 0,
      isError: level === "error",
      lacksParent: false,
      isCritical: false,
      logs: [],
      children: [],
    };
    nodes.push(node);
    if (id !== undefined && !byId.has(id)) byId.set(id, node);
  }
  for (const { record } of sorted) {
    if (isSpan(record)) continue;
    const { parent_id, span_id } = record.attrs ?? {};
    // A sender's own `parent_id` may name something that is no span.
    const owner = byId.get(textOf(parent_id) ?? "") ?? byId.get(textOf(span_id) ?? "");
    (owner?.logs ?? loose).push(record);
  }
  const roots: Node<R>[] = [];
  for (const node of nodes) {
    const parentId = textOf(node.record.attrs?.parent_id);
    const parent = parentId === undefined ? undefined : byId.get(parentId);
    if (parent !== undefined && parent !== node) parent.children.push(node);
    else roots.push(node);
    node.lacksParent = parentId !== undefined && parent === undefined;
  }
  const spans: Node<R>[] = [];
  const seen = new Set<Node<R>>();
  for (const root of roots) visit(root, seen, spans);
  // What is left is in a circle, or below one.
  for (const node of nodes) {
    if (seen.has(node)) continue;
    node.lacksParent = true;
    roots.push(node);
    visit(node, seen, spans);
  }
  const end = Math.max(
    0,
    ...sorted.slice(-1).map(({ at }) => at - start),
    nodes.reduce((latest, node) => Math.max(latest, node.start + node.duration), 0),
  );
  markCritical(roots);
  return { spans, logs: loose, start, duration: end };
}

export function isSpan({ attrs }: TraceRecord): boolean {
  return attrs?.kind === "span";
}

/** Adds a node and everything below it. Without recursion, because a sender may nest 10,000 spans. */
function visit<R extends TraceRecord>(root: Node<R>, seen: Set<Node<R>>, into: Node<R>[]): void {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    into.push(node);
    for (let at = node.children.length - 1; at >= 0; at--) {
      const child = node.children[at];
      if (child === undefined || seen.has(child)) continue;
      child.depth = node.depth + 1;
      waiting.push(child);
    }
  }
}

/**
 * Marks the critical path of the root that ends last. From a span's end backwards, the span waits for the child that
 * ends last, then, before that child's start, for the next one. Children that outlive their parent are cut to its end.
 */
function markCritical<R extends TraceRecord>(roots: readonly Node<R>[]): void {
  const endOf = (node: Node<R>) => node.start + node.duration;
  const [last] = [...roots].sort((one, other) => endOf(other) - endOf(one));
  if (last === undefined) return;
  const waiting = [{ node: last, until: endOf(last) }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, until } = next;
    if (node.isCritical) continue;
    node.isCritical = true;
    let left = until;
    const children = [...node.children].sort((one, other) => endOf(other) - endOf(one));
    for (const child of children) {
      const end = Math.min(endOf(child), until);
      if (end > left || child.start >= left || child.start < node.start) continue;
      waiting.push({ node: child, until: end });
      left = child.start;
    }
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Milliseconds as microseconds; 0 if it is no duration. */
function durationOf(ms: unknown): number {
  const micros = Math.round(Number(ms) * 1000);
  return micros > 0 && Number.isSafeInteger(micros) ? micros : 0;
}

/** Microseconds since 1970 of a time in ISO 8601. */
export function microsOf(ts: string): number {
  const [, seconds, fraction = ""] = /^(.*?)(?:\.(\d+))?(?:Z|\+00(?::?00)?)$/.exec(ts) ?? [];
  const ms = Date.parse(`${seconds}Z`);
  return Number.isNaN(ms) ? 0 : ms * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}
