import type { FileChange, FileDocument } from "../../read/types.ts";
import type { AnswerOf, ParametersOf, Reader } from "../../read/reader.ts";
import { jsonOf } from "../../../../../supabase/functions/_shared/exact_numbers.ts";
import { LogloomError } from "../../read/error.ts";
import { pause } from "../../read/service.ts";
import { Failure } from "../failure.ts";
import { harmless, reasonOf } from "../format_lines.ts";
import { documentOf, type FileItem, type Files } from "./read_files.ts";
import { sealed } from "./seal.ts";

/** Compares files with tenants, or makes tenants like them. */
export interface Comparison {
  /** Without it a tenant that does not exist is refused: its id may be misspelt. */
  readonly createsTenants: boolean;
  readonly isApplied: boolean;
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
  const { createsTenants, isApplied, isPruned, reader, signal } = comparison;
  if (tenant !== undefined && !createsTenants) {
    await reader.call("get_tenant_settings", { p_tenant_id: tenant }, { signal }).catch((error) => {
      if (!(error instanceof LogloomError) || error.status !== 404) throw error;
      throw new Failure("there is no such tenant: --create-tenants creates it.");
    });
  }
  const variables = files.tenants.get(tenant ?? "") ?? {};
  const items = files.items.filter(({ type }) => type !== "plans");
  const documents: FileDocument[] = [];
  for (const item of items) {
    documents.push(await sealed(documentOf(item, variables), item, reader, tenant, signal));
  }
  const parameters = {
    p_documents: documents,
    p_pruned_types: isPruned ? files.types.filter((type) => type !== "plans") : [],
    p_tenant_id: tenant,
  };
  const operation = isApplied ? "apply_tenant_files" : "preview_tenant_files";
  const call = () => reader.call(operation, parameters, { signal, patienceMs });
  return await whenFree(call, signal).catch(placing(items, documents));
}

/** The changes of the project's plans. */
export async function planChangesOf(
  files: Files,
  { isApplied, isPruned, reader, signal }: Comparison,
): Promise<FileChange[]> {
  const items = files.items.filter(({ type }) => type === "plans");
  const documents = items.map((item) => documentOf(item, {}));
  const { plans } = isPruned ? await setPlans(reader, {}, signal) : { plans: [] };
  const parameters = {
    p_plans: documents,
    p_deleted_ids: plans.map(({ name }) => name)
      .filter((name) => documents.every((document) => document.name !== name)),
    p_dry_run: !isApplied,
  };
  const { changes } = await whenFree(() => setPlans(reader, parameters, signal), signal)
    .catch(placing(items, documents));
  return changes;
}

/** Calls set_log_plans, which without parameters only lists the plans. */
export async function setPlans(
  reader: Reader,
  parameters: ParametersOf<"set_log_plans">,
  signal: AbortSignal,
): Promise<AnswerOf<"set_log_plans">> {
  return await reader.call("set_log_plans", parameters, { signal }).catch((error) => {
    if (!(error instanceof LogloomError) || error.status !== 403) throw error;
    throw new Failure(
      "plans are the project's: set LOGLOOM_TOKEN to its secret key, or keep plans.yaml in " +
        "a folder of its own.",
    );
  });
}

const patienceMs = 60_000;

/** Waits while another apply runs. The reader repeats no apply, but a 429 changed nothing. */
async function whenFree<Answer>(
  call: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isBusy = error instanceof LogloomError && error.status === 429 &&
        error.document === null && error.retryAfterMs > 0;
      if (!isBusy || Date.now() + error.retryAfterMs > deadline) throw error;
      console.error(`logloom: ${harmless(reasonOf(error).replace(/\.$/, ""))}; trying again …`);
      await pause(error.retryAfterMs, signal);
    }
  }
}

/** Throws an error of the service with the line of its document. */
function placing(items: readonly FileItem[], documents: readonly FileDocument[]) {
  return (error: unknown): never => {
    throw error instanceof LogloomError && error.document !== null
      ? new Failure(placed(error, items[error.document], documents[error.document]))
      : error;
  };
}

/** Says an error of the service with its line in the files, and its hint. */
function placed(
  { message, position, hint }: LogloomError,
  item: FileItem,
  { name, fields }: FileDocument,
): string {
  const written = (text: string) => text.replace(/\bp_(?=\w)/g, "");
  const said = written(message);
  const member = position !== null
    ? "query_dsl"
    : said.match(/\w+/g)?.find((word) => Object.hasOwn(fields, word));
  const where = position === null ? "" : ` (character ${position} of the query)`;
  const mend = hint === null ? "" : `\n  ${harmless(written(hint))}`;
  return `${item.place(member)}: ${harmless(`${name}: ${said}`)}${where}${mend}`;
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
