import { bodyTimeoutMs, takeBody } from "../_shared/request_body.ts";
import { problem } from "./error_answer.ts";

/** Parameters of an operation are short: the longest one, a query, has at most 2,048 bytes. */
const maxBodyBytes = 64 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text of a body, or the answer to a faulty one. */
export async function bodyText(request: Request): Promise<string | Response> {
  const taken = await bytesOf(request);
  if (taken instanceof Response) return taken;
  try {
    return utf8.decode(taken);
  } catch {
    return problem(400, "The body is not JSON", { hint: "Send the parameters as a JSON object." });
  }
}

/** The bytes of a body, or the answer to one that is too large or too slow. */
export async function bytesOf(request: Request): Promise<ArrayBuffer | Response> {
  const declared = Number(request.headers.get("Content-Length") ?? Infinity);
  // A small body of known length is read in one piece, which costs a third of reading it in chunks.
  if (declared <= maxBodyBytes) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((over) => {
      timer = setTimeout(() => over(undefined), bodyTimeoutMs);
    });
    const bytes = await Promise.race([request.arrayBuffer(), late]);
    clearTimeout(timer);
    return bytes ?? tooLate();
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const { isLate } = await takeBody(request.body, bodyTimeoutMs, (chunk) => {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  });
  if (isLate) return tooLate();
  if (length > maxBodyBytes) {
    return problem(413, `The body is too large: more than ${maxBodyBytes} bytes`);
  }
  return await new Blob(chunks).arrayBuffer();
}

function tooLate(): Response {
  return problem(408, "The body took too long");
}
