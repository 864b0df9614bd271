import { isWellFormedKey, portalCodePrefix, sha256Hex } from "../../_shared/auth.ts";
import { jsonText } from "../../_shared/http.ts";
import { problem } from "../problem.ts";
import type { Asked, Protocol } from "../protocol.ts";
import { parametersOf } from "./operation.ts";

/** `POST /v1/portal/session` with `{code}`: the session of a link to the portal, once. */
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
 * What the page has parts for, with parameters that are refused where the operation is open, before it reads anything:
 * a refused call is undone, and so counts against no limit. Only get_log_context asks for more, which needs get_log.
 */
const refusedWhereOpen: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  search_logs: { p_limit: 0 },
  export_logs: { p_format: "none" },
  log_histogram: { p_ts_from: "now", p_ts_to: "now" },
  list_log_fields: { p_ts_from: "now", p_ts_to: "now" },
  log_changes: { p_ts_from: "now", p_ts_to: "now" },
  log_stats: { p_limit: 0 },
  tail_logs: { p_limit: 0 },
  get_log_context: {},
};

/** `POST /v1/portal/operations`: which of them the reader may call, so that a page shows no others. */
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
    // Of who is not known, and where the database is away, nothing is known.
    const failed = answers.find(({ answer: { status } }) => status === 401 || status >= 500);
    if (failed) return failed.answer;
    const operations = answers
      .filter(({ answer }) => answer.status !== 403)
      .map(({ operation }) => operation);
    return jsonText(200, JSON.stringify({ operations }));
  },
};
