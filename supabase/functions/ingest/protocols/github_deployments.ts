import { failure, type Result, success } from "../../_shared/errors.ts";
import { isObject, type JsonObject } from "../json_reader.ts";
import { type Content, contentType, type Incoming, type Protocol } from "../protocol.ts";

/** GitHub's signature: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries. */
export const gitHubSignature: Protocol["signatureOf"] = ({ headers, query }) => {
  const said = headers.get("X-Hub-Signature-256") ?? "";
  const [, signature] = /^sha256=([0-9a-f]{64})$/.exec(said) ?? [];
  const keyId = query.get("key_id") ?? "";
  return signature !== undefined && uuid.test(keyId) ? { keyId, signature } : undefined;
};

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The JSON of a body. GitHub can send it as a form. */
export function jsonOfGitHub({ headers }: Incoming, content: Content): string {
  const { text } = content;
  if (contentType(headers) !== "application/x-www-form-urlencoded") return text;
  return new URLSearchParams(text).get("payload") ?? text;
}

/** The marker of a successful deployment; undefined for any other event. */
export function markerOfGitHub(
  event: string,
  { deployment_status: status, deployment, repository }: JsonObject,
): Result<JsonObject | undefined> {
  if (event !== "deployment_status") return success(undefined);
  if (!isObject(status) || !isObject(deployment) || typeof deployment.sha !== "string") {
    return failure(400, "The event has no deployment_status, or no deployment with a sha");
  }
  if (status.state !== "success") return success(undefined);
  const { sha, ref, environment } = deployment;
  const site = isObject(repository) ? repository.html_url : undefined;
  return success({
    release: tagOf(ref) ?? sha.slice(0, 12),
    env: environment,
    url: [status.log_url, status.target_url, `${site}/commit/${sha}`].find(isAddress),
    ts: status.created_at,
  });
}

export function isAddress(url: unknown): url is string {
  return typeof url === "string" && url.length <= 2048 && /^https?:\/\/[^\s/]/i.test(url) &&
    URL.canParse(url);
}

/** The tag that was deployed. A ref may also be a branch, so without refs/tags/ only a version counts as a tag. */
function tagOf(ref: unknown): string | undefined {
  return /^(?:refs\/tags\/(.+)|(v?\d+(?:\.\d+)+(?:[-+]\S*)?))$/.exec(String(ref))?.slice(1)
    .find((tag) => tag !== undefined);
}
