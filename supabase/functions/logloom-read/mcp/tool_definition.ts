import type { Schema } from "./output_schemas.ts";

/** Calls a reading operation and returns its parsed answer. Throws Refused. */
export type Read = (operation: string, parameters: Given) => Promise<unknown>;

/** Parameters by name. */
export type Given = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
  /** The operations that it calls. */
  readonly operations: readonly string[];
  /** The schema of its answer. */
  readonly output: Schema;
  /** Whether long texts in its answers are cut. */
  readonly isCut?: boolean;
  ask(given: Given, read: Read): Promise<unknown>;
}

export interface Property {
  readonly type: "string" | "integer" | "boolean" | "array";
  readonly description: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly maxItems?: number;
  readonly items?: Schema;
}

type Described = Omit<Tool, "operations" | "required" | "ask"> & {
  readonly required?: readonly string[];
};

interface Asking {
  /** A stage that is added to the query. */
  readonly stage?: string;
  /** Parameters that are sent unless the assistant gives them. */
  readonly fixed?: Given;
  /** Chooses the part of the answer for the assistant. */
  readonly shown?: (answer: unknown) => unknown;
}

/** A tool that calls one operation, with the parameters for assistants. */
export function toolOf(
  operation: string,
  tool: Described,
  { stage, fixed, shown = (answer) => answer }: Asking = {},
): Tool {
  return {
    required: [],
    ...tool,
    operations: [operation],
    ask: async (given, read) => {
      const parameters = parametersOf(given);
      if (stage !== undefined) {
        parameters.p_query_dsl = `${parameters.p_query_dsl ?? ""} ${stage}`.trim();
      }
      const answer = await read(operation, { ...fixed, ...parameters });
      if (operation === "log_stats" && Array.isArray(answer) && answer.length === 0) {
        return await whyNone(parameters, read);
      }
      return shown(answer);
    },
  };
}

/** A row with the warnings of the filter, in place of none; no row if there are no warnings. */
async function whyNone(parameters: Given, read: Read): Promise<unknown[]> {
  const query = String(parameters.p_query_dsl ?? "");
  const [filter] = /^(?:"(?:[^"\\]|\\.)*"|\\.|[^"\\|])*/s.exec(query) ?? [""];
  try {
    const page = await read("search_logs", {
      ...parameters,
      p_query_dsl: filter.trim(),
      p_limit: 1,
    });
    const { warnings: found = [] } = page as { warnings?: { suggestion: string }[] };
    if (found.length === 0) return [];
    const stages = query.slice(filter.length);
    const warnings = found.map((warning) => ({
      ...warning,
      suggestion: warning.suggestion && `${warning.suggestion} ${stages}`.trim(),
    }));
    return [{ group: {}, value: null, values: null, total_groups: 0, warnings }];
  } catch {
    // A view may allow numbers only.
    return [];
  }
}

/** An operation's text with the tool's names of parameters. Quoted parts stay. */
export function inNamesOf({ properties }: Pick<Tool, "properties">, words: string): string {
  return words.split(/("[^"]*")/).map((part, n) =>
    n % 2 === 1 ? part : part.replace(
      /(?<![@.])\bp_([a-z_]+)\b/g,
      (whole, name: string) => Object.hasOwn(properties, name) ? name : whole,
    )
  ).join("");
}

export function parametersOf(given: Given): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [`p_${name}`, value]));
}

export const query: Property = {
  type: "string",
  description: "A query, such as: level:error service:api timeout. query_help has the language.",
  maxLength: 2048,
};

export const range = {
  ts_from: { type: "string", description: "Start: RFC 3339, or now-1h.", maxLength: 64 },
  ts_to: { type: "string", description: "End: RFC 3339, or now.", maxLength: 64 },
} as const;

export function text(description: string, maxLength = 64): Property {
  return { type: "string", description, maxLength };
}

export function upTo(maximum: number, description: string): Property {
  return { type: "integer", description, minimum: 1, maximum };
}
