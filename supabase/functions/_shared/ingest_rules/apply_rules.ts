import { type Act, actOf, changing, type Tools } from "./actions.ts";
import type { Budget } from "./budget.ts";
import type { CompiledRule, RuleCounts } from "./compiled_rule.ts";
import { type Condition, conditionOf } from "./conditions.ts";
import { maskOf } from "./mask.ts";
import { type RecordColumns, Records } from "./records.ts";

interface ReadyRule {
  readonly id: string;
  readonly conditions: readonly Condition[];
  /** Those that are tested when the time is over. */
  readonly cheap: readonly Condition[];
  /** Whether it also acts if its condition cannot be tested in time, because it hides something. */
  readonly hides: boolean;
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
  /** Matches each text that one of the masks must look at. */
  readonly #trigger: RegExp;

  constructor(rules: readonly CompiledRule[], tools: Tools) {
    const triggers: string[] = [];
    this.#rules = rules.flatMap((rule) => readyRule(rule, tools, triggers) ?? []);
    this.#trigger = new RegExp(triggers.join("|"));
  }

  apply<Batch extends RecordColumns>(batch: Batch, budget: Budget): Ruled<Batch> {
    budget.begin();
    const records = new Records(batch, this.#trigger);
    const leftOut = new Set<number>();
    const run = { budget, salt: String(budget.clock()), shares: new Map<string, number>() };
    const counts = this.#rules.map(({ id }) => noCounts(id));
    for (let at = 0; at < records.count; at++) {
      records.at = at;
      if ((at & 15) === 0) budget.check();
      for (let n = 0; n < this.#rules.length; n++) {
        const rule = this.#rules[n];
        counts[n].seen++;
        if (!applies(rule, records, budget.isOver)) continue;
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
function readyRule(
  { id, when, do: action }: CompiledRule,
  tools: Tools,
  triggers: string[],
): ReadyRule | undefined {
  const hides = action.type === "mask" || action.type === "remove";
  const conditions = when.map((test) => conditionOf(test, hides));
  const cheap = conditions.filter(({ isCheap }) => isCheap);
  if (action.type !== "mask") {
    const act = actOf(action, tools);
    return act && { id, conditions, cheap, hides, act };
  }
  const { change, trigger } = maskOf(action, action.hash ? tools.hash : undefined);
  triggers.push(trigger.source);
  const act = changing((records, { budget }, counts) => change(records, budget, counts));
  return { id, conditions, cheap, hides, act };
}

function applies(rule: ReadyRule, records: Records, isLate: boolean): boolean {
  const { conditions, cheap } = rule;
  if (isLate && cheap.length < conditions.length) {
    return rule.hides && cheap.every(({ holds }) => holds(records));
  }
  for (let n = 0; n < conditions.length; n++) {
    if (!conditions[n].holds(records)) return false;
  }
  return true;
}

function noCounts(id: string): RuleCounts {
  return { id, seen: 0, matched: 0, masked: 0, dropped: 0, sampled: 0, not_checked: 0, bytes: 0 };
}
