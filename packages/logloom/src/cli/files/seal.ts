import type { FileDocument } from "../../read/types.ts";
import type { Reader } from "../../read/reader.ts";
import { Failure } from "../failure.ts";
import { harmless } from "../format_lines.ts";
import { fileTypes } from "./file_schema.ts";
import type { FileItem } from "./read_files.ts";

/** Returns the document with its secrets sealed by the project's edge function. */
export async function sealed(
  document: FileDocument,
  item: FileItem,
  reader: Reader,
  tenantId: string | undefined,
  signal: AbortSignal,
): Promise<FileDocument> {
  const { sealer } = fileTypes[item.type];
  const given = document.fields.secrets as Record<string, string> | null | undefined;
  if (sealer === undefined || given === undefined || given === null) return document;
  if (typeof given !== "object" || Array.isArray(given)) {
    throw new Failure(`${item.place("secrets")}: secrets has names and variables.`);
  }
  if (Object.keys(given).length === 0) return document;
  const secrets = await reader.seal(sealer, given, { signal, tenantId }).catch((error) => {
    signal.throwIfAborted();
    throw new Failure(`${item.place("secrets")}: ${harmless(`${error.message}`)}.`);
  });
  return { ...document, fields: { ...document.fields, secrets } };
}
