import { markedNumber, numberText } from "./numbers.ts";

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of a scalar; undefined for an object, an array and null. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return markedNumber(value) ?? value;
  if (typeof value === "number") return numberText(value);
  return typeof value === "boolean" ? String(value) : undefined;
}

/** Sets a member. A marked number as its name becomes its text, and `__proto__` is kept as a name. */
export function setMember(object: JsonObject, name: string, value: unknown): void {
  const key = markedNumber(name) ?? name;
  if (key !== "__proto__") {
    object[key] = value;
    return;
  }
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}
