import { levelWords } from "../record_fields.ts";
import type { Action, Place } from "./compiled_rule.ts";

/** An action as people write it in options or a form. Each type uses some members. */
export interface WrittenAction {
  type: Action["type"];
  /** Detectors: `email,card`. */
  what?: string;
  pattern?: string;
  label?: string;
  /** Where a mask looks: `msg,@token`. Everywhere if empty. */
  in?: string;
  hash?: boolean;
  rate?: string;
  by?: string;
  /** A field, or an attribute with `@`. */
  place?: string;
  value?: string;
}

export const detectorNames =
  "email card iban jwt ipv4 ipv6 bearer aws_key supabase_key logloom_key phone".split(" ");

export const listOf = (written = "") => written.trim().split(/\s*,\s*/).filter(Boolean);
const placeOf = (written = ""): Record<string, string> =>
  written.startsWith("@") ? { a: written.slice(1) } : { f: written };
const writtenPlace = (place: Place) => "a" in place ? `@${place.a}` : place.f;
/** What an attribute is set to if it is not a text. Quotes make a text of it. */
const scalar = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?|"[^"\\]*")$/;

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** The action for the service, which checks it. */
export function actionOf(written: WrittenAction): { [name: string]: Json } {
  const { type, pattern = "", label = "", value = "" } = written;
  const target = placeOf(written.place);
  const places = listOf(written.in).map(placeOf);
  const isScalar = "a" in target && scalar.test(value);
  switch (type) {
    case "mask":
      return {
        type,
        what: listOf(written.what),
        in: places.length === 0 ? "everywhere" : {
          fields: places.flatMap(({ f }) => f ?? []),
          attrs: places.flatMap(({ a }) => a ?? []),
        },
        hash: written.hash === true,
        ...pattern && { pattern, ...label && { label } },
      };
    case "sample":
      return { type, rate: Number(written.rate), by: written.by || "req_id" };
    case "parse":
      return { type, pattern };
    case "set":
      return { type, ...target, value: isScalar ? JSON.parse(value) as string | number : value };
    case "remove":
      return { type, ...target };
    case "level":
      return { type, from: Object.hasOwn(levelWords, value) ? value : placeOf(value) };
    default:
      return { type };
  }
}

export function writtenOf(stored: object): WrittenAction {
  const action = stored as Action;
  const { type } = action;
  switch (type) {
    case "mask": {
      const { fields = [], attrs = [] } = action.in === "everywhere" ? {} : action.in;
      const places = [...fields, ...attrs.map((name) => `@${name}`)].join(",");
      const { what, pattern, label, hash } = action;
      const ofPattern = pattern ? { pattern, label: label ?? "" } : {};
      return { type, what: what.join(","), in: places, hash: hash === true, ...ofPattern };
    }
    case "sample":
      return { type, rate: String(action.rate), by: action.by };
    case "set": {
      const { value } = action;
      const isText = typeof value === "string" && ("f" in action || !scalar.test(value));
      return { type, place: writtenPlace(action), value: isText ? value : JSON.stringify(value) };
    }
    case "remove":
      return { type, place: writtenPlace(action) };
    case "level":
      return {
        type,
        value: typeof action.from === "string" ? action.from : writtenPlace(action.from),
      };
    default:
      return { ...action };
  }
}

/** What an action does, besides its type. */
export function detailOf(action: object): string {
  const { what, pattern, rate, place, value } = writtenOf(action);
  const change = [place, value].filter(Boolean).join("=");
  return [what, pattern, rate, change].filter(Boolean).join(" ");
}
