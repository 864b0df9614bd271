import { bodyTimeoutMs, takeBody } from "../_shared/request_body.ts";
import { problem } from "./problem.ts";

/** The parameters of an operation are short; a query has 2,048 bytes at most. */
const maxBodyBytes = 64 * 1024;

/** The text of a body, or what is wrong with it. */
export async function bodyText(request: Request): Promise<string | Response> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const taken = await takeBody(request.body, bodyTimeoutMs, (chunk) => {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  });
  if (taken.isLate) return problem(408, "The body took too long");
  if (length > maxBodyBytes) {
    return problem(413, `The body is too large: more than ${maxBodyBytes} bytes`);
  }
  try {
    const bytes = await new Blob(chunks).arrayBuffer();
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return problem(400, "The body is no JSON", "Send the parameters as a JSON object.");
  }
}
