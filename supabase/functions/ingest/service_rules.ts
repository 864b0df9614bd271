import { IngestRules, type Ruled } from "../_shared/ingest_rules/apply_rules.ts";
import { Budget } from "../_shared/ingest_rules/budget.ts";
import type { CompiledRule, Test } from "../_shared/ingest_rules/compiled_rule.ts";
import { Records } from "../_shared/ingest_rules/records.ts";
import { eventFields } from "../_shared/record_fields.ts";
import type { Batch } from "./event_collector.ts";
import { levelOf } from "./levels.ts";

/**
 * The rules for a sender that has one service, as an ingest token has. The database fills in this service and no rule
 * changes it, so tests of `service` are decided here.
 */
export function rulesOfService(
  rules: readonly CompiledRule[],
  service: string,
): readonly CompiledRule[] {
  const isOfService = (place: object) => "f" in place && place.f === "service";
  const holds = (when: readonly Test[]) => {
    const rule = { id: "", when: when.filter(isOfService), do: { type: "drop" } } as const;
    const event = { p_ts: [null], p_service: [service] };
    return new IngestRules([rule], { levelOf }).apply(event, new Budget()).dropped === 1;
  };
  const others = (when: readonly Test[]) => when.filter((test) => !isOfService(test));
  const actionFor = (action: CompiledRule["do"]): CompiledRule["do"] => {
    if (action.type === "sample") {
      return { ...action, keep: action.keep?.filter(holds).map(others) };
    }
    if (action.type !== "level" || typeof action.from === "string") return action;
    return isOfService(action.from) ? { ...action, from: service } : action;
  };
  return rules
    .filter(({ when, do: action }) =>
      holds(when) && !(action.type === "set" && isOfService(action))
    )
    .map((rule) => ({ ...rule, when: others(rule.when), do: actionFor(rule.do) }));
}

/**
 * Applies rules of `rulesOfService`. The rules skip events that name another service: the database gets only the
 * service of such an event, and rejects the event.
 */
export function applyToService(
  service: string,
  rules: IngestRules,
  batch: Batch,
  budget: Budget,
): Ruled<Batch> {
  const foreign = [...batch.p_ts.keys()]
    .filter((at) => (batch.p_service?.[at] ?? service) !== service);
  const own = new Records(batch, budget).changed(new Set(foreign));
  const ruled = rules.apply({ ...batch, ...own, p_service: undefined }, budget);
  if (foreign.length === 0) return ruled;
  const { batch: kept } = ruled;
  const columns = eventFields.map((field) => {
    const column = kept[`p_${field}`];
    return [`p_${field}`, column && [...column, ...foreign.map(() => null)]];
  });
  const places = foreign.map((at) => batch.p_positions?.[at] ?? at);
  return {
    ...ruled,
    batch: {
      ...kept,
      ...Object.fromEntries(columns),
      p_service: [...kept.p_ts.map(() => null), ...foreign.map((at) => batch.p_service![at])],
      p_positions: [...kept.p_positions ?? [], ...places],
    },
  };
}
