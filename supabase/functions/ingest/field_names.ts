import { aliases, eventFields } from "../_shared/record_fields.ts";
import { isObject, type JsonObject } from "./json_reader.ts";

/** The names of an event's own fields. */
export const ownKeys: ReadonlySet<string> = new Set(eventFields);

type Target = keyof typeof aliases | "trace_id" | "span_id";

const otherNames: Readonly<Record<Target, readonly string[]>> = {
  ...aliases,
  trace_id: ["trace_id", "traceId", "dd.trace_id", "otelTraceID", "trace.id"],
  span_id: ["span_id", "spanId", "dd.span_id", "otelSpanID"],
};

export interface Name {
  readonly flat: string;
  /** Undefined for a name without dots. */
  readonly path: readonly string[] | undefined;
}

export const namesOf = Object.fromEntries(
  Object.entries(otherNames).map(([target, names]) => [
    target,
    names.map((flat) => ({ flat, path: flat.includes(".") ? flat.split(".") : undefined })),
  ]),
) as unknown as Readonly<Record<Target, readonly Name[]>>;

/** Members that may hold a field under another name. */
export const otherKeys: ReadonlySet<string> = new Set([
  "ddtags",
  ...Object.values(namesOf).flat().flatMap(({ flat, path }) =>
    path === undefined ? [flat] : [flat, path[0]]
  ).filter((key) => !ownKeys.has(key)),
]);

/** The value under a name, as a flat key or else as a path. */
export function lookUp(event: JsonObject, { flat, path }: Name): unknown {
  if (Object.hasOwn(event, flat)) return event[flat];
  if (path === undefined) return undefined;
  let value: unknown = event;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Removes the value under a name, and objects that become empty. */
export function takeOut(event: JsonObject, { flat, path }: Name): void {
  if (Object.hasOwn(event, flat)) {
    delete event[flat];
    return;
  }
  const within = [event];
  for (const key of path?.slice(0, -1) ?? []) {
    const next = within[within.length - 1][key];
    if (!isObject(next)) return;
    within.push(next);
  }
  for (let at = within.length - 1; at >= 0; at--) {
    delete within[at][(path ?? [flat])[at]];
    if (Object.keys(within[at]).length > 0) return;
  }
}
