import type { AlertRule, ParametersOf } from "../../packages/logloom/src/read.ts";
import { clientOf } from "./client.ts";

/** Creates a rule of the user's tenant: by default, more than one error in five minutes. */
export function createRule(
  { token }: { token: string },
  parameters: Partial<ParametersOf<"create_alert_rule">> = {},
): Promise<AlertRule> {
  return clientOf(token).call("create_alert_rule", {
    p_name: "Errors",
    p_query_dsl: "level:error",
    p_threshold: 1,
    p_comparison: "gt",
    p_window_minutes: 5,
    p_cooldown_minutes: 60,
    p_enabled: true,
    ...parameters,
  });
}
