import { bodyTimeoutMs, takeBody } from "../_shared/request_body.ts";
import { problem } from "./problem.ts";

/** The parameters of an operation are short; a query has 2,048 bytes at most. */
const maxBodyBytes = 64 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text of a body, or what is wrong with it. */
export async function bodyText(request: Request): Promise<string | Response> {
  const taken = await bytesOf(request);
  if (taken instanceof Response) return taken;
  try {
    return utf8.decode(taken);
  } catch {
    return problem(400, "The body is no JSON", { hint: "Send the parameters as a JSON object." });
  }
}

/** At most maxBodyBytes, or what is wrong with more. */
export async function bytesOf(request: Request): Promise<ArrayBuffer | Response> {
  const declared = Number(request.headers.get("Content-Length") ?? Infinity);
  // A body whose length is known and small is taken at once, which costs a third.
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
