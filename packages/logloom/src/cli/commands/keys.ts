import type { Reader } from "../../read/reader.ts";
import type { CreatedApiKey, Scope } from "../../read/types.ts";
import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { columns, harmless, jsonLine } from "../format_lines.ts";
import { idOf, type Named } from "../id_of_name.ts";
import { wholeNumber } from "../options.ts";
import { openReader, type TargetOptions, withTarget } from "../project_options.ts";

interface Options extends TargetOptions {
  json?: true;
}

interface CreateOptions extends Options {
  expiresAt?: string;
  scopes: string;
  view?: string;
}

export function keys(cli: Cli): Command {
  return newCommand(cli, "keys", "Lists, creates, replaces and revokes API keys", {
    examples: ["list", "create 'web server'", "create grafana --scopes read"],
  }).addCommand(list(cli)).addCommand(create(cli)).addCommand(rotate(cli)).addCommand(revoke(cli));
}

function list(cli: Cli): Command {
  return withTarget(newCommand(cli, "keys list", "Lists the tenant's keys, the newest first", {
    examples: ["", "--json"],
  }))
    .option("--json", "a JSON object a line")
    .action(async (options: Options) => {
      const reader = await openReader(cli, options);
      const rows = [["id", "name", "begins with", "status", "created", "last used", "expires"]];
      for await (const key of reader.list("list_api_keys", {}, cli)) {
        if (options.json) console.log(jsonLine(key));
        const { key_id, name, key_prefix, status } = key;
        const times = [key.created_at, key.last_used_at, key.expires_at];
        rows.push([
          key_id,
          name,
          key_prefix,
          status,
          ...times.map((at) => at?.slice(0, 16) ?? "-"),
        ]);
      }
      if (rows.length === 1) {
        console.error(`logloom: No keys: ${cli.call("keys create")} makes one.`);
      } else if (!options.json) console.log(columns(rows).join("\n"));
    });
}

function create(cli: Cli): Command {
  return withTarget(newCommand(cli, "keys create", "Creates a key, and prints it this once", {
    examples: [
      "'web server'",
      "ci --expires-at 2027-01-31",
      "ci > key.txt",
      "grafana --scopes read --view Shop",
    ],
    notes:
      `The key is on standard output, what there is to say about it on standard error. A key with
a view has the scope read alone, for a view limits nothing that is sent.`,
  }))
    .argument("<name>", "what it is for")
    .option("--expires-at <time>", "when it stops working, as 2027-01-31; else never")
    .option("--scopes <scopes>", "what it may do: ingest, read, audit, or several", "ingest")
    .option("--view <view>", "the name or id of the view that it reads in; else all records")
    .option("--json", "all of it as a JSON object")
    .action(async (name: string, options: CreateOptions) => {
      const scopes = scopesOf(options.scopes);
      if (options.view !== undefined && scopes.includes("ingest")) {
        throw new Failure("--view is for keys that only read: add --scopes read.");
      }
      const reader = await openReader(cli, options);
      const parameters = {
        p_name: name,
        p_expires_at: options.expiresAt,
        p_scopes: scopes,
        p_view_id: options.view === undefined
          ? undefined
          : await idOf("view", options.view, views(cli, reader)),
      };
      show(await reader.call("create_api_key", parameters, cli), options);
    });
}

function scopesOf(text: string): Scope[] {
  const scopes = text.split(",").map((scope) => scope.trim());
  if (scopes.every(isScope)) return [...new Set(scopes)];
  throw new Failure(`--scopes takes ingest, read or audit, not ${text}.`);
}

function isScope(text: string): text is Scope {
  return text === "ingest" || text === "read" || text === "audit";
}

/** Lists the active keys. A rotated key is left out, because the key that replaced it has the same name. */
async function* activeKeys(cli: Cli, reader: Reader): AsyncGenerator<Named> {
  for await (const { key_id, name, key_prefix, status } of reader.list("list_api_keys", {}, cli)) {
    if (status === "active") yield { id: key_id, name, detail: `begins with ${key_prefix}` };
  }
}

async function* views(cli: Cli, reader: Reader): AsyncGenerator<Named> {
  for await (const { view_id, name } of reader.list("list_log_views", {}, cli)) {
    yield { id: view_id, name, detail: "" };
  }
}

function keyId(cli: Cli, reader: Reader, named: string): Promise<string> {
  if (named.startsWith("ll_")) {
    throw new Failure("name the key's name or id, not the key: list shows them.");
  }
  return idOf("active key", named, activeKeys(cli, reader));
}

function rotate(cli: Cli): Command {
  return withTarget(newCommand(cli, "keys rotate", "Replaces a key; both work for a while", {
    examples: ["'web server' --overlap 30"],
  }))
    .argument("<key>", "the key's name or id, as list shows them")
    .option("--overlap <minutes>", "how long both work, 0 to 10080", "60")
    .option("--json", "all of it as a JSON object")
    .action(async (named: string, options: Options & { overlap: string }) => {
      const overlap = wholeNumber("--overlap", options.overlap, 0, 10_080);
      const reader = await openReader(cli, options);
      const p_key_id = await keyId(cli, reader, named);
      const parameters = { p_key_id, p_overlap_minutes: overlap };
      show(await reader.call("rotate_api_key", parameters, cli), options);
    });
}

function revoke(cli: Cli): Command {
  return withTarget(newCommand(cli, "keys revoke", "Revokes a key at once and for good", {
    examples: ["'web server'", "6f6a4f0e-54b6-4c3f-9b6d-2f0c4f6f3f11"],
  }))
    .argument("<key>", "the key's name or id, as list shows them")
    .action(async (named: string, options: Options) => {
      const reader = await openReader(cli, options);
      const p_key_id = await keyId(cli, reader, named);
      await reader.call("revoke_api_key", { p_key_id }, cli);
      console.log(`Revoked ${harmless(named)}.`);
    });
}

function show(key: CreatedApiKey, { json }: Options): void {
  console.log(json ? jsonLine(key) : key.key_value);
  if (!json) console.error(`Its id is ${key.key_id}. The key is shown only now.`);
}
