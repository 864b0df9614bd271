export interface ValueOptions {
  /**
   * Values that must not leave the program. `"password"` is a member with this name at any depth, `"user.email"` is a
   * path, `*` stands for any member. A pattern is replaced in every text and name.
   */
  readonly redact?: readonly (string | RegExp)[];
  /** How deep values may be nested. Default: 8. */
  readonly maxDepth?: number;
  /** How many characters an event may have. Default: 32,000. */
  readonly maxSize?: number;
}

/** Turns an event's members into plain JSON, within the limits and without redacted values. Never throws. */
export type Plain = (members: Record<string, unknown>) => Record<string, unknown>;

const redacted = "[redacted]";

export function createPlain({ redact = [], maxDepth = 8, maxSize = 32_000 }: ValueOptions): Plain {
  const patterns = redact.filter((one) => one instanceof RegExp)
    .map((one) => one.global ? one : new RegExp(one, one.flags + "g"));
  const paths = redact.filter((one) => typeof one === "string")
    .map((one) => one.toLowerCase().split("."));

  const isRedacted = (path: readonly string[]) =>
    paths.some((one) =>
      one.length === 1
        ? one[0] === path.at(-1)
        : one.length === path.length && one.every((name, n) => name === "*" || name === path[n])
    );

  return (members) => {
    let left = maxSize;
    const above = new Set<object>();

    const clean = (value: string) =>
      patterns.reduce((rest, pattern) => rest.replace(pattern, redacted), value);

    function text(value: string): string {
      value = clean(value);
      // Half a surrogate pair is removed.
      const kept = value.length > left
        ? value.slice(0, Math.max(0, left)).replace(/[\ud800-\udbff]?$/, "…")
        : value;
      left -= kept.length;
      return kept;
    }

    function walk(value: unknown, path: readonly string[]): unknown {
      try {
        return plain(value, path);
      } catch (error) {
        return text(textOf(error));
      }
    }

    function plain(value: unknown, path: readonly string[]): unknown {
      if (value === null || value === undefined) return value;
      if (typeof value === "boolean" || Number.isFinite(value)) return value;
      if (typeof value === "function") return `[function ${value.name}]`;
      if (typeof value !== "object") return text(String(value));
      if (above.has(value)) return "[circular]";
      const known = namedText(value);
      if (known) return text(known);
      const isList = Array.isArray(value) || value instanceof Set;
      if (above.size >= maxDepth) return isList ? "[list]" : "[object]";
      above.add(value);
      try {
        const { toJSON } = value as { toJSON?: unknown };
        if (typeof toJSON === "function") return plain(toJSON.call(value), path);
        if (isList) return list(value, path);
        return object(membersOf(value), path);
      } finally {
        above.delete(value);
      }
    }

    function list(values: Iterable<unknown>, path: readonly string[]): unknown[] {
      const result: unknown[] = [];
      for (const one of values) {
        if ((left -= 2) < 0) return [...result, "…"];
        result.push(walk(one, [...path, `${result.length}`]) ?? null);
      }
      return result;
    }

    function object(
      entries: Iterable<[unknown, unknown]>,
      path: readonly string[],
    ): Record<string, unknown> {
      // Without a prototype `__proto__` is a normal member.
      const result: Record<string, unknown> = Object.create(null);
      for (const [key, one] of entries) {
        const named = String(key);
        const below = [...path, named.toLowerCase()];
        const name = clean(named);
        if ((left -= name.length + 4) < 0) {
          result["…"] = "…";
          break;
        }
        const made = isRedacted(below) ? redacted : walk(one, below);
        // A name may occur several times in a query string.
        const others = result[name];
        if (made !== undefined) {
          if (Array.isArray(others)) others.push(made);
          else result[name] = name in result ? [others, made] : made;
        }
      }
      return result;
    }

    return object(Object.entries(members), []);
  };
}

/** Returns a text for an object that JSON would show as {} or as a long list. */
function namedText(value: object): string | undefined {
  if (value instanceof Date) return value.toJSON() ?? "Invalid Date";
  if (value instanceof RegExp) return String(value);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return `[${value.constructor.name} of ${value.byteLength} bytes]`;
  }
}

function membersOf(value: object): Iterable<[unknown, unknown]> {
  if (value instanceof Map || value instanceof URLSearchParams) return value;
  const hasOthers = [Error, Response, Request].some((one) => value instanceof one);
  return Object.entries(copied(
    value,
    hasOthers ? "name message stack cause errors method status statusText url".split(" ") : [],
  ));
}

/** Copies an object's own members and the members named in `others`. A getter that throws gives its error's text. */
export function copied(value: object, others: string[] = []): Record<string, unknown> {
  return Object.fromEntries([...others, ...Object.keys(value)].map((name) => {
    try {
      return [name, (value as Record<string, unknown>)[name]];
    } catch (error) {
      return [name, textOf(error)];
    }
  }));
}

/** Returns the text of an error that a value threw while it was read. */
function textOf(error: unknown): string {
  try {
    return `[${error}]`;
  } catch {
    return "[unreadable]";
  }
}
