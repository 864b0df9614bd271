import { type Act, actOf, changing, type Tools } from "./actions.ts";
import type { Budget } from "./budget.ts";
import type { CompiledRule, RuleCounts } from "./compiled_rule.ts";
import { allHold, type Condition, conditionOf } from "./conditions.ts";
import { maskOf } from "./mask.ts";
import { type RecordColumns, Records } from "./records.ts";

interface ReadyRule {
  readonly id: string;
  readonly conditions: readonly Condition[];
  /** Whether it also acts if its condition cannot be tested in time, because it hides something. */
  readonly hides: boolean;
  /** Whether it acts when the time is over. */
  readonly actsLate: boolean;
  readonly act: Act;
}

export interface Ruled<Batch> {
  /** The same object if no rule changed it. */
  readonly batch: Batch;
  /** The events that were left out. */
  readonly dropped: number;
  /** For each rule that saw an event. */
  readonly counts: readonly RuleCounts[];
}

/** A tenant's rules, ready to be applied in order. */
export class IngestRules {
  readonly #rules: readonly ReadyRule[];

  constructor(rules: readonly CompiledRule[], tools: Tools) {
    this.#rules = rules.flatMap((rule) => readyRule(rule, tools) ?? []);
  }

  apply<Batch extends RecordColumns>(batch: Batch, budget: Budget): Ruled<Batch> {
    const salt = String(budget.begin());
    const records = new Records(batch, budget);
    const leftOut = new Set<number>();
    const run = { budget, salt, shares: new Map<string, number>() };
    const counts = this.#rules.map(({ id }) => noCounts(id));
    for (let at = 0; at < records.count; at++) {
      records.at = at;
      for (let n = 0; n < this.#rules.length; n++) {
        const rule = this.#rules[n];
        counts[n].seen++;
        if (budget.check() && !rule.actsLate) continue;
        if (!allHold(rule.conditions, records, budget, rule.hides)) continue;
        counts[n].matched++;
        if (!rule.act(records, run, counts[n])) continue;
        leftOut.add(at);
        break;
      }
    }
    const changed = records.changed(leftOut);
    budget.end();
    return {
      batch: changed === undefined ? batch : { ...batch, ...changed },
      dropped: leftOut.size,
      counts: counts.filter(({ seen }) => seen > 0),
    };
  }
}

/** Undefined for an action of a newer database. A mask of one hides all that it may look at. */
function readyRule({ id, when, do: action }: CompiledRule, tools: Tools): ReadyRule | undefined {
  const hides = action.type === "mask" || action.type === "remove";
  const conditions = when.map((test) => conditionOf(test, hides));
  const actsLate = hides || action.type === "drop";
  if (action.type !== "mask") {
    const act = actOf(action, tools);
    return act && { id, conditions, hides, actsLate, act };
  }
  const mask = maskOf(action, action.hash ? tools.hash : undefined);
  const act = changing((records, { budget }, counts) => mask(records, budget, counts));
  return { id, conditions, hides, actsLate, act };
}

function noCounts(id: string): RuleCounts {
  return { id, seen: 0, matched: 0, masked: 0, dropped: 0, sampled: 0, not_checked: 0, bytes: 0 };
}
