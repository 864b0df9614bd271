import { type JsonObject, setMember } from "../json_values.ts";
import { LinearRegex } from "../linear_regex/regex_match.ts";
import { requiredText } from "../linear_regex/regex_syntax.ts";
import { markedNumber, numberText } from "../numbers.ts";
import { textFields } from "../record_fields.ts";
import type { Budget } from "./budget.ts";
import type { MaskAction, RuleCounts } from "./compiled_rule.ts";
import { detectors, type Found } from "./detectors.ts";
import { columnOf, type Records } from "./records.ts";

/** Replaces a text that was not checked because the time was over. */
export const notChecked = "[not checked]";

/** Returns the HMAC of a text as hex, by the tenant's key. */
export type Hash = (text: string) => string;

interface Replacement {
  readonly label: string;
  readonly trigger: RegExp;
  /** False if that takes too long. */
  readonly find: (text: string, budget: Budget, found: Found) => boolean;
  readonly readsNumbers: boolean;
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
  /** Matches each text, and all attributes as JSON, that the mask must look at. */
  const trigger = new RegExp((replacements ?? []).map((one) => one.trigger.source).join("|"));
  let texts = 0;

  function masked(text: string, budget: Budget, counts: RuleCounts): string {
    if (text.length > 1000 || (++texts & 63) === 0) budget.check(text.length);
    let now = budget.isOver || replacements === undefined ? undefined : text;
    if (now !== undefined && !trigger.test(now)) return now;
    for (const one of replacements ?? []) {
      if (now !== undefined && one.trigger.test(now)) now = replaced(now, one, budget, counts);
    }
    if (now === undefined) counts.not_checked++;
    return now ?? notChecked;
  }

  function replaced(
    text: string,
    { label, find }: Replacement,
    budget: Budget,
    counts: RuleCounts,
  ) {
    let result = "";
    let copied = 0;
    const isDone = find(text, budget, (from, to) => {
      const mark = hash === undefined ? "" : `:${hash(text.slice(from, to)).slice(0, 8)}`;
      result += `${text.slice(copied, from)}[${label}${mark}]`;
      copied = to;
      counts.masked++;
    });
    return isDone ? result + text.slice(copied) : undefined;
  }

  /** The value itself if nothing in it is masked. */
  function maskedValue(value: unknown, budget: Budget, counts: RuleCounts): unknown {
    if (typeof value === "string") {
      const number = markedNumber(value);
      if (number === undefined) return masked(value, budget, counts);
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
        const now = maskedValue(value[at], budget, counts);
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
      const now = maskedValue(members[key], budget, counts);
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

  /** Masks all members, or the named ones. */
  function maskedAttrs(attrs: JsonObject, budget: Budget, counts: RuleCounts): JsonObject {
    if (isEverywhere) {
      if (!budget.isOver) return maskedMembers(attrs, budget, counts);
      counts.not_checked++;
      return { not_checked: notChecked };
    }
    let now = attrs;
    for (const name of names) {
      if (!Object.hasOwn(attrs, name)) continue;
      const value = maskedValue(attrs[name], budget, counts);
      if (value === attrs[name]) continue;
      if (now === attrs) now = { ...attrs };
      setMember(now, name, value);
    }
    return now;
  }

  return (records, budget, counts) => {
    const { attrs, guessed } = records;
    const isHarmless = isEverywhere && !budget.isOver && attrs !== null &&
      !trigger.test(records.attrText);
    budget.check(attrs !== null && isEverywhere ? records.attrText.length : 0);
    if (attrs !== null && !isHarmless) records.attrs = maskedAttrs(attrs, budget, counts);
    if (guessed !== undefined) records.guessed = maskedAttrs(guessed, budget, counts);
    for (const column of columns) {
      const text = records.text(column);
      if (text !== null) records.setText(column, masked(text, budget, counts));
    }
  };
}

/** Undefined if one is unknown. */
function replacementsOf({ what, pattern, label }: MaskAction): Replacement[] | undefined {
  if (what.some((name) => !detectors.some(([known]) => name === known))) return undefined;
  const found = detectors.filter(([name]) => what.includes(name));
  const replacements = found.map(([name, { trigger, find, readsNumbers = false }]) => ({
    label: name,
    trigger,
    find: (text: string, budget: Budget, found: Found) => inPieces(text, find, budget, found),
    readsNumbers,
  }));
  if (pattern === undefined || pattern === null) return replacements;
  try {
    return [...replacements, replacementOf(pattern, label ?? "custom")];
  } catch {
    return undefined;
  }
}

/** A pattern as the query language has it: `.` is also a line break. */
function replacementOf(pattern: string, label: string): Replacement {
  const regex = new LinearRegex(`(?s)${pattern}`);
  const required = requiredText(regex.syntax);
  return {
    label,
    // JSON writes other texts with escapes.
    trigger: new RegExp(/^[\w @:=-]+$/.test(required) ? inAnyCase(required) : ""),
    find: (text, { check }, found) => {
      const spans = regex.spans(text, () => check(Infinity));
      for (let n = 0; n < (spans?.length ?? 0); n += 2) found(spans![n], spans![n + 1]);
      return spans !== undefined;
    },
    readsNumbers: true,
  };
}

function inAnyCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
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
