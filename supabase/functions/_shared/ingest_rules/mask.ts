import { type JsonObject, setMember } from "../json_values.ts";
import { markedNumber, numberText } from "../numbers.ts";
import { textFields } from "../record_fields.ts";
import type { Budget } from "./budget.ts";
import type { MaskAction, RuleCounts } from "./compiled_rule.ts";
import { detectors, type Found, readNames } from "./detectors.ts";
import { maskPattern } from "./mask_pattern.ts";
import { columnOf, type Records } from "./records.ts";

/** Replaces a text that was not checked because the time was over. */
export const notChecked = "[not checked]";

/** Returns the HMAC of a text as hex, by the tenant's key. */
export type Hash = (text: string) => string;

interface Replacement {
  readonly label: string;
  /** Matches a text with a match, and all attributes as JSON if one is in them. */
  readonly trigger: RegExp;
  /** Tests a text better than the trigger. */
  readonly test?: (text: string) => boolean;
  /** False if that takes too long. */
  readonly find: (text: string, budget: Budget, found: Found) => boolean;
  readonly readsNumbers?: boolean;
  readonly readsNames?: boolean;
}

/** Longer texts are checked piece by piece, so that the time can be looked at. */
const pieceLength = 65_536;
/** These stand in nothing that a detector finds. */
const betweenPieces = /[\n\r\t{},;<>|][^\n\r\t{},;<>|]*$/;

/** Changes the record in hand. */
export type Mask = (records: Records, budget: Budget, counts: RuleCounts) => void;

/** Makes a mask. With an unknown detector or pattern it hides all. */
export function maskOf(action: MaskAction, hash: Hash | undefined): Mask {
  const replacements = replacementsOf(action);
  const readsNumbers = replacements?.some((one) => one.readsNumbers) ?? true;
  const trigger = triggerOf(replacements ?? []);
  const detectorTrigger = triggerOf((replacements ?? []).filter(({ test }) => test === undefined));
  const mayMatch = (text: string, name: string) =>
    detectorTrigger.test(name + text) || replacements!.at(-1)?.test?.(text) === true;
  // A pattern may go over a text many times.
  const workPerCharacter = action.pattern ? 16 : 1;
  let texts = 0;

  /** `name`: the attribute's, if some detectors read it before the text. */
  function masked(text: string, budget: Budget, counts: RuleCounts, name = ""): string {
    if (text.length > 200 || (++texts & 63) === 0) budget.check(workPerCharacter * text.length);
    let now = budget.isOver || replacements === undefined ? undefined : text;
    if (now !== undefined && !mayMatch(now, name)) return now;
    for (const one of replacements ?? []) {
      const start = one.readsNames ? name : "";
      if (now !== undefined && (one.test?.(now) ?? one.trigger.test(start + now))) {
        now = replaced(start + now, start.length, one, budget, counts);
      }
    }
    if (now === undefined) counts.not_checked++;
    return now ?? notChecked;
  }

  /** The text from `start` on, with its matches replaced. */
  function replaced(
    text: string,
    start: number,
    { label, find }: Replacement,
    budget: Budget,
    counts: RuleCounts,
  ) {
    let result = "";
    let copied = start;
    const isDone = find(text, budget, (found, to) => {
      if (to <= start) return;
      const from = Math.max(found, start);
      const mark = hash === undefined ? "" : `:${hash(text.slice(from, to)).slice(0, 8)}`;
      result += `${text.slice(copied, from)}[${label}${mark}]`;
      copied = to;
      counts.masked++;
    });
    return isDone ? result + text.slice(copied) : undefined;
  }

  /** The value itself if nothing in it is masked. */
  function maskedValue(value: unknown, budget: Budget, counts: RuleCounts, name: string): unknown {
    if (typeof value === "string") {
      const number = markedNumber(value);
      if (number === undefined) return masked(value, budget, counts, name);
      const now = readsNumbers ? masked(number, budget, counts) : number;
      return now === number ? value : now;
    }
    if (typeof value === "number" && readsNumbers) {
      const number = numberText(value);
      const now = masked(number, budget, counts);
      return now === number ? value : now;
    }
    if (Array.isArray(value)) {
      let copy: unknown[] | undefined;
      for (let at = 0; at < value.length; at++) {
        const now = maskedValue(value[at], budget, counts, name);
        if (now !== value[at]) (copy ??= [...value])[at] = now;
      }
      return copy ?? value;
    }
    if (typeof value !== "object" || value === null) return value;
    return maskedMembers(value as JsonObject, budget, counts);
  }

  function maskedMembers(members: JsonObject, budget: Budget, counts: RuleCounts): JsonObject {
    let copy: JsonObject | undefined;
    let number = 1;
    for (const key in members) {
      const name = masked(key, budget, counts);
      const now = maskedValue(members[key], budget, counts, beforeValue(key));
      if (copy === undefined && (name !== key || now !== members[key])) {
        copy = {};
        for (const before in members) {
          if (before === key) break;
          setMember(copy, before, members[before]);
        }
      }
      if (copy === undefined) continue;
      let free = name;
      // Two names may have become one.
      while (name !== key && (Object.hasOwn(copy, free) || Object.hasOwn(members, free))) {
        free = `${name} ${++number}`;
      }
      setMember(copy, free, now);
    }
    return copy ?? members;
  }

  const { in: place } = action;
  const isEverywhere = place === "everywhere";
  const columns = isEverywhere
    ? textFields.map(columnOf)
    : (place.fields ?? []).map(columnOf).filter((column) => column < textFields.length);
  const names = isEverywhere ? [] : place.attrs ?? [];

  function maskedAll(attrs: JsonObject, budget: Budget, counts: RuleCounts): JsonObject {
    if (!budget.isOver) return maskedMembers(attrs, budget, counts);
    counts.not_checked++;
    return { not_checked: notChecked };
  }

  return (records, budget, counts) => {
    const { attrs, guessed } = records;
    if (isEverywhere && attrs !== null) {
      const isSuspect = budget.isOver || trigger.test(records.attrText);
      if (!budget.isOver) budget.check(records.attrText.length);
      if (isSuspect || budget.isOver) records.attrs = maskedAll(attrs, budget, counts);
    }
    if (isEverywhere && guessed !== undefined) {
      records.guessed = maskedAll(guessed, budget, counts);
    }
    for (const name of names) {
      const maskedIn = (object: JsonObject) =>
        maskedValue(object[name], budget, counts, beforeValue(name));
      if (attrs !== null && Object.hasOwn(attrs, name)) {
        const now = maskedIn(attrs);
        if (now !== attrs[name]) records.changeAttrs((own) => setMember(own, name, now));
      }
      if (guessed !== undefined && Object.hasOwn(guessed, name)) {
        const now = maskedIn(guessed);
        if (now !== guessed[name]) records.guessed = { ...records.guessed, [name]: now };
      }
    }
    for (const column of columns) {
      const text = records.text(column);
      if (text !== null) records.setText(column, masked(text, budget, counts));
    }
  };
}

/** What detectors read before the value of an attribute: its name, if that can tell what the value is. */
function beforeValue(name: string): string {
  return readNames.test(name) ? `${name.slice(-64)}: ` : "";
}

function triggerOf(replacements: readonly Replacement[]): RegExp {
  return new RegExp(replacements.map(({ trigger }) => trigger.source).join("|") || "(?!)");
}

/** Undefined if one is unknown. */
function replacementsOf({ what, pattern, label }: MaskAction): Replacement[] | undefined {
  if (what.some((name) => !detectors.some(([known]) => name === known))) return undefined;
  const found = detectors.filter(([name]) => what.includes(name));
  const replacements = found.map(([label, { find, ...others }]) => ({
    ...others,
    label,
    find: (text: string, budget: Budget, found: Found) => inPieces(text, find, budget, found),
  }));
  if (pattern === undefined || pattern === null) return replacements;
  try {
    const custom = { ...maskPattern(pattern), label: label ?? "custom", readsNumbers: true };
    return [...replacements, custom];
  } catch {
    return undefined;
  }
}

/** Finds in a long text. False if the time is over, or if a piece would have to end in the middle of something. */
function inPieces(
  text: string,
  find: (text: string, found: Found) => void,
  budget: Budget,
  found: Found,
): boolean {
  for (let from = 0; from < text.length;) {
    let piece = text.slice(from, from + pieceLength);
    if (from + pieceLength < text.length) {
      const end = piece.search(betweenPieces);
      if (end <= 0) return false;
      piece = piece.slice(0, end);
    }
    const start = from;
    find(piece, (at, to) => found(start + at, start + to));
    from += piece.length;
    if (from < text.length && budget.check(pieceLength)) return false;
  }
  return true;
}
