import type { FileChange, FileDocument } from "../../read/types.ts";
import type { ParametersOf, Reader } from "../../read/reader.ts";
import { jsonOf } from "../../../../../supabase/functions/_shared/exact_numbers.ts";
import { LogloomError } from "../../read/error.ts";
import { pause } from "../../read/service.ts";
import { Failure } from "../failure.ts";
import { harmless, reasonOf } from "../format_lines.ts";
import { documentOf, type Files } from "./read_files.ts";
import { sealed } from "./seal.ts";

/** Compares files with tenants, or makes tenants like them. */
export interface Comparison {
  readonly operation: "preview_tenant_files" | "apply_tenant_files";
  readonly isPruned: boolean;
  readonly reader: Reader;
  readonly signal: AbortSignal;
}

/** Returns the tenants that a name or a pattern means. Without one: all of the files, or undefined for the session's. */
export function tenantsOf(files: Files, asked: string | undefined): (string | undefined)[] {
  const known = [...files.tenants.keys()];
  if (asked === undefined) return known.length > 0 ? known : [undefined];
  if (!asked.includes("*")) return [asked];
  const parts = asked.split("*").map((part) => part.replace(/[^\w]/g, "\\$&"));
  const found = known.filter((tenant) => new RegExp(`^${parts.join(".*")}$`).test(tenant));
  if (found.length > 0) return found;
  throw new Failure(`no tenant is like ${asked}: the files have ${known.join(", ") || "none"}.`);
}

export async function changesOf(
  files: Files,
  tenant: string | undefined,
  comparison: Comparison,
): Promise<FileChange[]> {
  const { isPruned, reader, signal } = comparison;
  const variables = files.tenants.get(tenant ?? "") ?? {};
  const documents: FileDocument[] = [];
  for (const item of files.items) {
    documents.push(await sealed(documentOf(item, variables), item, reader, tenant, signal));
  }
  const parameters = {
    p_documents: documents,
    p_pruned_types: isPruned ? [...files.types] : [],
    p_tenant_id: tenant,
  };
  return await whenFree(comparison, parameters).catch((error) => {
    throw error instanceof LogloomError && error.document !== null
      ? new Failure(placed(error, error.document, files, documents))
      : error;
  });
}

const patienceMs = 60_000;

/** Waits while another apply changes the tenant. The reader repeats no apply, but a 429 changed nothing. */
async function whenFree(
  { operation, reader, signal }: Comparison,
  parameters: ParametersOf<Comparison["operation"]>,
): Promise<FileChange[]> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await reader.call(operation, parameters, { signal, patienceMs });
    } catch (error) {
      const isBusy = error instanceof LogloomError && error.status === 429 &&
        error.document === null && error.retryAfterMs > 0;
      if (!isBusy || Date.now() + error.retryAfterMs > deadline) throw error;
      console.error(`logloom: ${harmless(reasonOf(error).replace(/\.$/, ""))}; trying again …`);
      await pause(error.retryAfterMs, signal);
    }
  }
}

/** Says an error of the service with its line in the files. */
function placed(
  { message, position }: LogloomError,
  index: number,
  files: Files,
  documents: readonly FileDocument[],
): string {
  const { name, fields } = documents[index];
  const said = message.replace(/\bp_(?=\w)/g, "");
  const member = position !== null
    ? "query_dsl"
    : said.match(/\w+/g)?.find((word) => Object.hasOwn(fields, word));
  const where = position === null ? "" : ` (character ${position} of the query)`;
  return `${files.items[index].place(member)}: ${harmless(`${name}: ${said}`)}${where}`;
}

const signs = { create: "+", update: "~", delete: "-" };

/** Returns a change as lines: what, then each field. */
export function changeLines(
  { action, type, name, renamed_from, fields }: FileChange,
  tenant: string | undefined,
): string[] {
  const renamed = renamed_from === null ? "" : `, until now ${renamed_from}`;
  const of = tenant === undefined ? "" : `${tenant}: `;
  const members = Object.entries(fields).map(([field, { old, new: now }]) =>
    `    ${field}: ${old === undefined ? "" : `${jsonOf(old)} → `}${jsonOf(now)}`
  );
  return [`${signs[action]} ${of}${type} ${name}${renamed}`, ...members].map(harmless);
}
