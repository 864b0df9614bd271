/** A signed-in user of one of the tenants. */
export interface Actor {
  tenantId: string;
  token: string;
}

export interface MixedLoad {
  requests: number;
  seconds: number;
  /** Answers by status. */
  statuses: Map<number, number>;
  /** Answers with an impossible status, with their requests. */
  unexpected: string[];
  /** Answers that showed another tenant. */
  leaks: string[];
  latencies: number[];
}

/** Names a tenant under load. Every object contains its tenant's name, so that a leak is visible. */
export const tenantName = () => `load-${crypto.randomUUID()}`;
const tenantNames = /load-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A tenant may run only a few of these at a time, and so may all tenants together. One more is 429. */
const takeSlots = [
  "search_logs",
  "log_stats",
  "log_histogram",
  "list_log_fields",
  "tail_logs",
  "run_saved_search",
  "preview_alert_rule",
];

type Objects = "saved_search" | "alert_rule" | "api_key";

/** Ids of objects that all users know: their owners, colleagues and strangers ask for them. */
type Known = Record<Objects, string[]>;

interface Call {
  operation: string;
  parameters: Record<string, unknown>;
  expected: number[];
  creates?: Objects;
}

/**
 * Every user sends random requests, one after the other, until the time is over and a minimum number was sent.
 */
export async function mixedLoad(
  url: string,
  actors: Actor[],
  seconds: number,
  least = 0,
): Promise<MixedLoad> {
  const result: MixedLoad = {
    requests: 0,
    seconds: 0,
    statuses: new Map(),
    unexpected: [],
    leaks: [],
    latencies: [],
  };
  const known: Known = { saved_search: [], alert_rule: [], api_key: [] };
  const started = performance.now();
  const user = async (actor: Actor) => {
    while (performance.now() - started < seconds * 1000 || result.requests < least) {
      const call = draw(calls(actor, known, actors));
      const sent = performance.now();
      const response = await fetch(`${url}/rest/v1/rpc/${call.operation}`, {
        method: "POST",
        headers: { authorization: `Bearer ${actor.token}`, "content-type": "application/json" },
        body: JSON.stringify(call.parameters),
      });
      const text = await response.text();
      result.latencies.push(performance.now() - sent);
      result.requests += 1;
      result.statuses.set(response.status, (result.statuses.get(response.status) ?? 0) + 1);
      const told = `${call.operation} ${
        JSON.stringify(call.parameters)
      }: ${response.status} ${text}`;
      const isTooMany = response.status === 429 && takeSlots.includes(call.operation);
      if (!isTooMany && !call.expected.includes(response.status)) result.unexpected.push(told);
      const seen = text.match(tenantNames) ?? [];
      if (seen.some((name) => name !== actor.tenantId)) result.leaks.push(told);
      if (call.creates && response.ok) remember(known[call.creates], JSON.parse(text));
    }
  };
  await Promise.all(actors.map(user));
  result.seconds = (performance.now() - started) / 1000;
  return result;
}

/** Few ids, so that users share objects. */
const remembered = 200;

function remember(ids: string[], created: string | Record<string, string>): void {
  const id = typeof created === "string" ? created : created.rule_id ?? created.key_id;
  if (ids.length < remembered) ids.push(id);
  else ids[Math.floor(Math.random() * remembered)] = id;
}

function draw<Value>(values: readonly Value[]): Value {
  return values[Math.floor(Math.random() * values.length)];
}

function calls({ tenantId }: Actor, known: Known, actors: Actor[]): Call[] {
  const name = `${tenantId} ${Math.random()}`;
  const nobody = "00000000-0000-4000-8000-000000000000";
  const p_id = draw(known.saved_search) ?? nobody;
  const p_rule_id = draw(known.alert_rule) ?? nobody;
  const p_key_id = draw(known.api_key) ?? nobody;
  const someone = draw(actors).tenantId;
  const own = someone === tenantId;
  const call = (
    operation: string,
    parameters: Record<string, unknown> = {},
    expected = [200],
    creates?: Objects,
  ): Call => ({ operation, parameters, expected, creates });
  return [
    call("list_saved_searches"),
    call("list_saved_searches", { include_shared: false, p_limit: 10 }),
    call("get_saved_search", { p_id }, [200, 404]),
    call(
      "create_saved_search",
      { p_name: name, p_query_dsl: "level:error", p_is_shared: Math.random() < 0.5 },
      [200, 400],
      "saved_search",
    ),
    call("create_saved_search", { p_name: name, p_query_dsl: "level:(" }, [400]),
    call("update_saved_search", { p_id, p_name: name }, [200, 403, 404]),
    call("delete_saved_search", { p_id }, [200, 403, 404]),
    call("get_saved_search_count"),
    call("get_saved_search_categories"),
    call("check_plan_feature", { p_feature: "alerts" }),
    call("list_alert_rules"),
    call("list_alert_rules", { p_tenant_id: someone }, own ? [200] : [403]),
    call("get_alert_rule", { p_rule_id }, [200, 404]),
    call(
      "create_alert_rule",
      {
        p_name: name,
        p_query_dsl: "level:error | rate()",
        p_threshold: 1,
        p_comparison: "gt",
        p_window_minutes: 5,
        p_cooldown_minutes: 5,
        p_enabled: false,
      },
      [200, 400],
      "alert_rule",
    ),
    call("update_alert_rule", { p_rule_id, p_name: name }, [200, 404]),
    call("delete_alert_rule", { p_rule_id }, [200, 404]),
    call("list_alert_history"),
    call("acknowledge_alert", { p_alert_id: nobody }, [404]),
    call("list_api_keys"),
    call("create_api_key", { p_name: name }, [200, 400], "api_key"),
    call("get_api_key_usage", { p_key_id }, [200, 404]),
    call("revoke_api_key", { p_key_id }, [200, 404]),
    call("get_current_tenant", {}, [200, 404]),
    call("get_current_tenant", { p_tenant_id: someone }, own ? [200, 404] : [403]),
    call("get_tenant_settings", {}, [200, 404]),
    call("update_tenant_settings", { pipeline_config: { retention_days: 5 } }),
  ];
}
