import { createHmac } from "node:crypto";
import { type Caller, callerKey } from "../_shared/auth.ts";
import { IngestRules, type Ruled } from "../_shared/ingest_rules/apply_rules.ts";
import type { Budget } from "../_shared/ingest_rules/budget.ts";
import type { CompiledRule } from "../_shared/ingest_rules/compiled_rule.ts";
import type { SealedSecrets } from "../_shared/sealed_secrets.ts";
import type { Batch } from "./event_collector.ts";
import { levelOf } from "./levels.ts";
import { applyToService, rulesOfService } from "./service_rules.ts";

export interface TenantRules {
  readonly version: string;
  readonly apply: (batch: Batch, budget: Budget) => Ruled<Batch>;
}

/** Keeps the rules of callers. Most tenants have none and are not kept. */
export interface RuleCache {
  find(caller: Caller): TenantRules | undefined;
  /** Takes the rules from the database's answer to a commit under other rules. */
  learn(caller: Caller, answer: string): Promise<void>;
}

interface Told {
  readonly rules: {
    /** Null if the tenant has no rules. */
    readonly version: string | null;
    readonly rules: readonly CompiledRule[];
    /** The sealed key of the hashes in masks. */
    readonly hash_key: string | null;
    readonly tenant_id: string;
    /** The only service that the caller may send for. */
    readonly service?: string | null;
  };
}

/** The purpose for which the key of the hashes is sealed. */
export const purpose = "ingest_rules";

const maxCallers = 1000;

export function createRuleCache(secrets: SealedSecrets | undefined): RuleCache {
  const known = new Map<string, TenantRules>();
  return {
    find(caller) {
      return known.get(callerKey(caller));
    },

    async learn(caller, answer) {
      const { version, rules: told, hash_key: sealed, tenant_id: tenantId, service }:
        Told["rules"] = (JSON.parse(answer) as Told).rules;
      const opened = sealed === null
        ? undefined
        : await secrets?.open(sealed, { tenantId, purpose });
      const hash = opened &&
        ((text: string) => createHmac("sha256", opened.text).update(text).digest("hex"));
      const key = callerKey(caller);
      known.delete(key);
      if (version === null) return;
      // A Map lists the oldest entry first.
      for (const oldest of known.keys()) {
        if (known.size < maxCallers) break;
        known.delete(oldest);
      }
      const isOfService = typeof service === "string";
      const rules = new IngestRules(isOfService ? rulesOfService(told, service) : told, {
        hash,
        levelOf,
      });
      known.set(key, {
        version,
        apply: (batch, budget) =>
          isOfService ? applyToService(service, rules, batch, budget) : rules.apply(batch, budget),
      });
    },
  };
}

/** The parameters that tell the database what the rules did to a slice. */
export function ruleParameters(
  version: string,
  { dropped, counts }: Ruled<unknown>,
): Record<string, unknown> {
  return {
    p_rules_version: version,
    ...dropped > 0 && { p_dropped: dropped },
    ...counts.length > 0 && { p_rule_counts: counts },
  };
}
