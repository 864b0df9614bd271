import { scalarText, setMember } from "../json_values.ts";
import type { Budget } from "./budget.ts";
import type { Action, MaskAction, Place, RuleCounts, Test } from "./compiled_rule.ts";
import { allHold, conditionOf } from "./conditions.ts";
import type { Hash } from "./mask.ts";
import { columnOf, type Records } from "./records.ts";
import { noteRate, shareOf } from "./sampling.ts";

export interface Tools {
  /** Undefined if the tenant has no key, or it cannot be opened: marks then have no hash. */
  readonly hash?: Hash;
  /** The level of a lower-case word. */
  readonly levelOf: (lower: string) => string | null;
}

/** What actions know of the batch in hand. */
export interface Run {
  readonly budget: Budget;
  readonly salt: string;
  /** The part of its share where a sampled record lies, from 0 to 1, for the next sampling by the same. */
  readonly shares: Map<string, number>;
}

/** Changes the record in hand. True: it is left out. */
export type Act = (records: Records, run: Run, counts: RuleCounts) => boolean;

/** Undefined for an action of a newer database. */
export function actOf(action: Exclude<Action, MaskAction>, { levelOf }: Tools): Act | undefined {
  switch (action.type) {
    case "drop":
      return (records, _, counts) => {
        counts.dropped++;
        counts.bytes += records.size;
        return true;
      };
    case "sample":
      return sampleOf(action.rate, action.by, action.keep ?? []);
    case "parse":
      return changing(parseOf(action.pattern));
    case "set": {
      const { value } = action;
      if ("a" in action) {
        return changing((records) => setAttr(records, action.a, value));
      }
      const column = columnOf(action.f);
      const text = scalarText(value) ?? null;
      return changing((records) => records.setText(column, text));
    }
    case "remove":
      return changing((records, _, counts) => {
        const { attrs } = records;
        if (attrs === null || !Object.hasOwn(attrs, action.a)) return;
        counts.bytes += JSON.stringify({ [action.a]: attrs[action.a] }).length;
        records.changeAttrs((own) => delete own[action.a]);
      });
    case "level": {
      const read = readerOf(action.from);
      const column = columnOf("level");
      return changing((records) => {
        const level = levelOf(read(records)?.trim().toLowerCase() ?? "");
        if (level !== null) records.setText(column, level);
      });
    }
  }
}

export function changing(change: (records: Records, run: Run, counts: RuleCounts) => void): Act {
  return (records, run, counts) => {
    change(records, run, counts);
    return false;
  };
}

function setAttr(records: Records, name: string, value: unknown): void {
  const { attrs } = records;
  if (attrs !== null && Object.hasOwn(attrs, name) && attrs[name] === value) return;
  records.changeAttrs((own) => setMember(own, name, value));
}

function readerOf(from: Place | string): (records: Records) => string | null {
  if (typeof from === "string") return () => from;
  if ("a" in from) {
    return ({ attrs }) =>
      attrs !== null && Object.hasOwn(attrs, from.a) ? scalarText(attrs[from.a]) ?? null : null;
  }
  const column = columnOf(from.f);
  return (records) => records.text(column);
}

/**
 * Keeps records whose share is below the rate. What is kept lies evenly from 0 to the rate. A later sampling stretches
 * that to 1, so that it halves the records again, and keeps the same requests as rules of other services. A record that
 * passes one of the lists of tests is kept as it is.
 */
function sampleOf(rate: number, by: "req_id" | "record", keep: readonly (readonly Test[])[]): Act {
  const kept = keep.map((tests) => tests.map((test) => conditionOf(test, true)));
  return (records, { budget, salt, shares }, counts) => {
    if (kept.some((conditions) => allHold(conditions, records, budget, true))) return false;
    const key = `${by} ${records.at}`;
    const share = shares.get(key) ?? shareOf(records, by, salt);
    if (share >= rate) {
      counts.sampled++;
      counts.bytes += records.size;
      return true;
    }
    shares.set(key, share / rate);
    records.changeAttrs((attrs) => noteRate(attrs, rate));
    return false;
  };
}

/** The stage extract reads this much of a text. */
const maxParsed = 65_536;

/** Adds the parts of `msg` between the texts of a pattern, as the stage extract does. */
function parseOf(pattern: string): (records: Records) => void {
  const names = Array.from(pattern.matchAll(/<([^<>]*)>/g), ([, name]) => name);
  const literals = pattern.split(/<[^<>]*>/);
  const msg = columnOf("msg");
  return (records) => {
    const text = records.text(msg)?.slice(0, maxParsed);
    if (text === undefined) return;
    const found: [string, string][] = [];
    let at = text.indexOf(literals[0]);
    for (const [n, name] of names.entries()) {
      if (at === -1) return;
      const from = at + literals[n].length;
      at = literals[n + 1] === "" ? text.length : text.indexOf(literals[n + 1], from);
      if (name !== "" && name !== "_") found.push([name, text.slice(from, Math.max(at, from))]);
    }
    if (at === -1) return;
    const fresh = found.filter(([name]) => !Object.hasOwn(records.attrs ?? {}, name));
    for (const [name, value] of fresh) setAttr(records, name, value);
  };
}
