import { isWellFormedKey, portalCodePrefix, sha256Hex } from "../../_shared/auth.ts";
import { jsonText } from "../../_shared/http.ts";
import { problem } from "../error_answer.ts";
import type { Asked, Protocol } from "../protocol.ts";
import { parametersOf } from "./operation.ts";

/** `POST /v1/portal/session` with `{code}`: exchanges the code of a portal link for its session, once. */
export const portal: Protocol = {
  methods: "POST, OPTIONS",
  async answer({ request, callDatabase }: Asked): Promise<Response> {
    const parameters = await parametersOf(request);
    if (parameters instanceof Response) return parameters;
    const { code } = JSON.parse(parameters);
    if (typeof code !== "string") {
      return problem(400, "Missing code", {
        hint: 'Send {"code": …}, what the link has behind #.',
      });
    }
    if (!code.startsWith(portalCodePrefix) || !isWellFormedKey(code)) {
      return problem(401, "This link is damaged", {
        hint: "A character is wrong or missing in its code.",
      });
    }
    const reader = { kind: "portal_code", codeDigest: sha256Hex(code) } as const;
    return await callDatabase(reader, "open_log_portal_session", "{}");
  },
};

/**
 * The operations that the page uses, with invalid parameters. If the reader may call an operation, it refuses these with
 * 400 before it reads anything, and a refused call counts against no limit. Only get_log_context reads, by get_log.
 */
const refusedWhereOpen: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  search_logs: { p_limit: 0 },
  export_logs: { p_format: "none" },
  log_histogram: { p_ts_from: "now", p_ts_to: "now" },
  list_log_fields: { p_ts_from: "now", p_ts_to: "now" },
  log_series: { p_ts_from: "now", p_ts_to: "now" },
  log_changes: { p_ts_from: "now", p_ts_to: "now" },
  log_stats: { p_limit: 0 },
  tail_logs: { p_limit: 0 },
  get_log_context: {},
  list_error_groups: { p_limit: 0 },
  get_error_group: {},
  list_audit_events: { p_limit: 0 },
  list_log_dashboards: { p_limit: 0 },
  get_log_dashboard: {},
  get_tenant_usage: { p_months: 0 },
  list_alert_rules: { p_limit: 0 },
  create_alert_rule: {},
  list_log_streams: { p_limit: 0 },
  create_log_stream: {},
};

/** `POST /v1/portal/operations`: the operations that the reader may call, so that the page hides the others. */
export const portalOperations: Protocol = {
  methods: "POST, OPTIONS",
  async answer({ reader, callDatabase }: Asked): Promise<Response> {
    if (reader instanceof Response) return reader;
    const answers = await Promise.all(
      Object.entries(refusedWhereOpen).map(async ([operation, parameters]) => {
        const answer = await callDatabase(reader, operation, JSON.stringify(parameters));
        return { operation, answer };
      }),
    );
    // An unknown reader or an unreachable database says nothing about operations.
    const failed = answers.find(({ answer: { status } }) => status === 401 || status >= 500);
    if (failed) return failed.answer;
    const operations = answers
      .filter(({ answer }) => answer.status !== 403)
      .map(({ operation }) => operation);
    return jsonText(200, JSON.stringify({ operations }));
  },
};
