import { endOfString } from "../_shared/exact_numbers.ts";
import { type JsonObject, setMember } from "../_shared/json_values.ts";
import { markedNumber, markNumbers } from "../_shared/numbers.ts";

export { isObject, type JsonObject, scalarText, setMember } from "../_shared/json_values.ts";

/** The value of a JSON text with exact numbers marked; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(markNumbers(text));
  } catch {
    return undefined;
  }
}

/** Adds a member unless there is one of this name. */
export function addMember(object: JsonObject, key: string, value: unknown): void {
  if (!Object.hasOwn(object, key)) setMember(object, key, value);
}

/** JSON.stringify without recursion, because only the body's size limits the nesting here. */
export function jsonTextOf(root: unknown): string {
  const parts: string[] = [];
  /** Values and finished texts that are still to be written, last first. */
  const pending: ({ readonly value: unknown } | string)[] = [{ value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") {
      parts.push(next);
      continue;
    }
    const { value } = next;
    if (typeof value === "string") {
      parts.push(markedNumber(value) ?? JSON.stringify(value));
    } else if (typeof value !== "object" || value === null) {
      parts.push(JSON.stringify(value));
    } else if (Array.isArray(value)) {
      pending.push("]");
      for (let at = value.length - 1; at >= 0; at--) {
        pending.push({ value: value[at] });
        if (at > 0) pending.push(",");
      }
      parts.push("[");
    } else {
      pending.push("}");
      const members = Object.entries(value);
      for (let at = members.length - 1; at >= 0; at--) {
        const [key, member] = members[at];
        pending.push({ value: member }, `${JSON.stringify(key)}:`);
        if (at > 0) pending.push(",");
      }
      parts.push("{");
    }
  }
  return parts.join("");
}

/** Thrown by JSON that would take far more memory than its text. */
export class ExcessiveJson extends Error {}

const maxNesting = 10_000;
const maxContainers = 400_000;
const maxValues = 600_000;
/** The most different shapes. Real requests have only a few. */
const maxShapes = 200_000;

/** Smaller bodies are unlimited: their size bounds their memory. */
export const harmlessLength = 512_000;

const shapeBits = 1 << 21;

/** The shape of an object without members. */
export const noShape = 0x811c9dc5 | 0;

/**
 * Counts roughly how many shapes the objects have. A shape is a sequence of names, and so is each of its prefixes. A new
 * shape costs the engine fifty times as much as a known one, so a body with too many shapes is refused.
 */
export class ShapeCount {
  readonly #seen = new Uint32Array(shapeBits / 32);
  #count = 0;

  /** The shape after adding a name, which is given by its position in a text. */
  next(shape: number, text: string, from = 0, to = text.length): number {
    let hash = shape;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ 0x22, 0x01000193);
    const bit = (hash ^ (hash >>> 15)) & (shapeBits - 1);
    const mask = 1 << (bit & 31);
    if ((this.#seen[bit >>> 5] & mask) === 0) {
      this.#seen[bit >>> 5] |= mask;
      if (++this.#count > maxShapes) {
        throw new ExcessiveJson(`Objects differ too much in their members (max ${maxShapes} ways)`);
      }
    }
    return hash;
  }
}

/** Parses the texts of one body and refuses cheap texts that would be expensive. */
export class JsonReader {
  readonly #shapes: ShapeCount | undefined;
  #containers = 0;
  #values = 0;

  constructor(bodyLength: number) {
    if (bodyLength > harmlessLength) this.#shapes = new ShapeCount();
  }

  /** Undefined if the text is not JSON. */
  parse(text: string): unknown {
    if (this.#shapes !== undefined) this.#weigh(text, this.#shapes);
    return parseJson(text);
  }

  #weigh(text: string, shapes: ShapeCount): void {
    let depth = 0;
    /** The shapes of the enclosing objects, the innermost last. */
    const around = [noShape];
    /** The content of the last string, which is a name if a colon follows. */
    let start = 0;
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      switch (text.charCodeAt(at)) {
        case 0x22:
          start = at + 1;
          end = endOfString(text, at) - 1;
          at = end;
          break;
        case 0x3a:
          around[depth] = shapes.next(around[depth], text, start, end);
          break;
        case 0x7b:
        case 0x5b:
          this.#containers++;
          if (++depth > maxNesting) {
            throw new ExcessiveJson(`JSON is nested deeper than ${maxNesting} levels`);
          }
          around[depth] = noShape;
          break;
        case 0x7d:
        case 0x5d:
          // Invalid JSON may close more than it opens.
          if (depth > 0) depth--;
          break;
        case 0x2c:
          this.#values++;
      }
    }
    if (this.#containers > maxContainers || this.#values > maxValues) {
      throw new ExcessiveJson(
        `JSON holds too many values (max ${maxContainers} objects and arrays)`,
      );
    }
  }
}
