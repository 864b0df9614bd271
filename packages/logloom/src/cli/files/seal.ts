import type { FileDocument } from "../../read/types.ts";
import type { Session } from "../../read/service.ts";
import { Failure } from "../failure.ts";
import { harmless } from "../format_lines.ts";
import { fileTypes } from "./file_schema.ts";
import type { FileItem } from "./read_files.ts";

const timeoutMs = 30_000;

/** Returns the document with its secrets sealed by the project's edge function. */
export async function sealed(
  document: FileDocument,
  item: FileItem,
  session: Session,
  tenant: string | undefined,
  signal: AbortSignal,
): Promise<FileDocument> {
  const { sealer } = fileTypes[item.type];
  const { secrets } = document.fields;
  if (sealer === undefined || Object.keys(Object(secrets)).length === 0) return document;
  const fail = (why: string) => new Failure(`${item.place("secrets")}: ${harmless(why)}.`);
  const token = typeof session.token === "string" ? session.token : await session.token();
  let response: Response;
  let answer: { p_secrets?: Record<string, string>; error?: string };
  try {
    response = await fetch(`${session.url}/functions/v1/${sealer}/v1/seal`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${token}`,
        ...session.key !== undefined && { apikey: session.key },
      },
      body: JSON.stringify({ p_secrets: secrets, p_tenant_id: tenant }),
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    answer = await response.json();
  } catch {
    signal.throwIfAborted();
    throw fail(`the function ${sealer} cannot be reached, and only it can seal secrets`);
  }
  if (answer.p_secrets === undefined) throw fail(answer.error ?? `${sealer}: ${response.status}`);
  return { ...document, fields: { ...document.fields, secrets: answer.p_secrets } };
}
