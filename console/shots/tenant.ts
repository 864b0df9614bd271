import { Failure } from "../../local/exit_on_failure.ts";
import { userToken } from "../../local/signing_keys.ts";
import { createReader, type Reader } from "../../packages/logloom/src/read.ts";
import { story } from "./story.ts";

export interface Tenant extends Pick<Reader, "call" | "stats"> {
  readonly token: string;
}

export function tenantOf(url: string, name: string): Tenant {
  const token = userToken(crypto.randomUUID(), name);
  return { ...createReader({ url, token }), token };
}

/** A tenant with a day of logs and at least one row on every screen. */
export async function furnishedTenant(url: string): Promise<Tenant> {
  const tenant = tenantOf(url, `acme-${crypto.randomUUID().slice(0, 4)}`);
  const events = story(Date.now());
  for (let from = 0; from < events.length; from += 1000) {
    const response = await fetch(`${url}/functions/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenant.token}`, "content-type": "application/json" },
      body: JSON.stringify(events.slice(from, from + 1000)),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Failure(`ingest answered ${response.status}: ${text}`);
    }
  }
  await until("the day can be searched", async () => {
    const [row] = await tenant.stats("| count()", { since: "25h" });
    return row?.value === events.length;
  });
  await addMembers(tenant);
  await addKeys(tenant);
  await addSearches(tenant);
  await addRules(tenant);
  await addDashboard(tenant);
  await addStream(tenant);
  await addSilence(tenant);
  return tenant;
}

async function addMembers({ token, call }: Tenant): Promise<void> {
  const me = JSON.parse(atob(token.split(".")[1] ?? "")).sub as string;
  const others = [["admin", "noor@acme.example"], [
    "member",
    "sam.long-name@acme.example",
  ]] as const;
  await call("add_tenant_member", { p_user_id: me, p_role: "owner", p_email: "kim@acme.example" });
  for (const [role, email] of others) {
    const id = crypto.randomUUID();
    await call("add_tenant_member", { p_user_id: id, p_role: role, p_email: email });
  }
}

async function addKeys({ call }: Tenant): Promise<void> {
  for (const name of ["gateway", "checkout and worker", "staging, until the move is over"]) {
    await call("create_api_key", { p_name: name });
  }
  const day = 86_400_000;
  const expires = new Date(Date.now() + 30 * day).toISOString();
  await call("create_api_key", { p_name: "load test", p_expires_at: expires });
  const old = await call("create_api_key", { p_name: "laptop of Sam" });
  await call("revoke_api_key", { p_key_id: old.key_id });
}

async function addSearches({ call }: Tenant): Promise<void> {
  const searches = [
    ["Errors", "level:error", "Every day", true, ["first-look"]],
    ["Slow requests", "service:gateway attrs.duration_ms:>1000", "Every day", true, ["speed"]],
    ["Card processor", 'service:checkout "did not answer"', "Payments", true, [
      "incident",
      "cards",
    ]],
    [
      "Refused sign-ins by address",
      "service:auth level:warn | count() by attrs.ip",
      undefined,
      false,
      [],
    ],
  ] as const;
  for (const [name, query, category, isShared, tags] of searches) {
    await call("create_saved_search", {
      p_name: name,
      p_query_dsl: query,
      p_category: category,
      p_is_shared: isShared,
      p_tags: [...tags],
      p_description: name === "Card processor"
        ? "What the runbook for payments begins with."
        : undefined,
    });
  }
}

async function addDashboard({ call }: Tenant): Promise<void> {
  await call("create_log_dashboard", {
    p_name: "Shop",
    p_is_shared: true,
    p_panels: [
      { title: "Errors", query_dsl: "level:error | count()", kind: "number", width: 3 },
      { title: "By service", query_dsl: "| count() by service", kind: "lines", width: 9 },
      { title: "Errors by service", query_dsl: "level:error | count() by service", kind: "bars" },
      {
        title: "p95 at the gateway",
        query_dsl: "service:gateway | p95(@duration_ms)",
        kind: "lines",
      },
    ],
  });
}

/** Adds a stream whose receiver does not exist. */
async function addStream({ call }: Tenant): Promise<void> {
  await call("create_log_stream", {
    p_name: "Warehouse",
    p_kind: "webhook",
    p_query_dsl: "level:>=warn",
    p_config: { url: "https://logs.acme.example/in" },
  });
}

async function addSilence({ call }: Tenant): Promise<void> {
  await call("create_alert_silence", {
    p_matcher: { group: { service: "worker" } },
    p_to: new Date(Date.now() + 2 * 3_600_000).toISOString(),
    p_comment: "The worker moves to another machine tonight.",
  });
}

/** Adds rules, some of which fire within the next minute. */
async function addRules({ call }: Tenant): Promise<void> {
  const rules = [
    ["Payments fail", 'service:checkout level:error "did not answer"', "gt", 3, true],
    ["Any error at the gateway", "service:gateway level:error", "gte", 5, true],
    ["The worker is silent", "service:worker", "lt", 1, false],
  ] as const;
  for (const [name, query, comparison, threshold, isEnabled] of rules) {
    const { rule_id } = await call("create_alert_rule", {
      p_name: name,
      p_query_dsl: query,
      p_threshold: threshold,
      p_comparison: comparison,
      p_window_minutes: 30,
      p_cooldown_minutes: 60,
      p_enabled: isEnabled,
      p_notification_destinations: name === "Payments fail" ? ["webhook"] : [],
      p_notification_config: { webhook_url: "https://hooks.acme.example/oncall" },
    });
    if (name === "Payments fail") {
      await call("test_alert_rule", { p_rule_id: rule_id });
    }
  }
}

/** Waits until the rules of `furnishedTenant` have fired, and acknowledges one alert. */
export async function firedAlerts({ call }: Tenant): Promise<void> {
  const alerts = await until("the rules fire", async () => {
    const found = await call("list_alert_history", {});
    return found.length >= 2 && found;
  });
  await call("acknowledge_alert", { p_alert_id: alerts[0].alert_id });
}

async function until<Result>(what: string, look: () => Promise<Result | false>): Promise<Result> {
  const deadline = Date.now() + 150_000;
  while (Date.now() < deadline) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Failure(`It took too long until ${what}.`);
}
