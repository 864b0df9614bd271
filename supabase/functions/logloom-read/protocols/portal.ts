import { isWellFormedKey, portalCodePrefix, sha256Hex } from "../../_shared/auth.ts";
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
      return problem(400, "Missing code", 'Send {"code": …}, what the link has behind #.');
    }
    if (!code.startsWith(portalCodePrefix) || !isWellFormedKey(code)) {
      return problem(401, "This link is damaged", "A character is wrong or missing in its code.");
    }
    const reader = { kind: "portal_code", codeDigest: sha256Hex(code) } as const;
    return await callDatabase(reader, "open_log_portal_session", "{}");
  },
};
