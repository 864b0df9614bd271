import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { ParametersOf } from "../read/reader.ts";
import { Failure } from "./failure.ts";
import type { Cli, Command } from "./command_line.ts";
import { wholeNumber } from "./options.ts";
import type { TargetOptions } from "./project_options.ts";

export interface RuleOptions extends TargetOptions {
  json?: true;
  file?: string;
  name?: string;
  description?: string;
  query?: string;
  above?: string;
  below?: string;
  threshold?: string;
  comparison?: string;
  days?: string;
  window?: string;
  cooldown?: string;
  email?: string;
  webhook?: string;
  paused?: true;
  newErrors?: true;
}

export function withCondition(command: Command): Command {
  return command
    .option("--file <file>", "the rule as a JSON object, as list --json prints it; - is stdin")
    .option("--query <query>", "what is counted or computed")
    .option("--above <n>", "fires when the value is greater")
    .option("--below <n>", "fires when the value is less")
    .option("--comparison <word>", "instead: gt, gte, lt, lte, eq or neq, with --threshold")
    .option("--threshold <n>", "what the value is compared with")
    .option("--days <n>", "above or below what was usual in 3 to 7 days: n is in deviations")
    .option("--window <minutes>", "how far back it looks, 1 to 1440")
    .option("--cooldown <minutes>", "how long it is silent after it fired, 0 to 10080");
}

/** The members of a rule that a file may have. */
const members = [
  "name",
  "description",
  "query_dsl",
  "threshold",
  "comparison",
  "window_minutes",
  "cooldown_minutes",
  "enabled",
  "notification_destinations",
  "notification_config",
  "notify_on_recovery",
  "for_minutes",
  "on_absent",
  "group_wait_seconds",
];

const conditions = ["threshold", "comparison", "window_minutes", "for_minutes", "on_absent"];

export type Rule = ParametersOf<"create_alert_rule">;

/** Combines the options and the file. The service checks whether the result is a valid rule. */
export async function ruleOf(cli: Cli, options: RuleOptions): Promise<Partial<Rule>> {
  const { name, description, query, above, below, email, webhook, file } = options;
  const rule: Record<string, unknown> = {};
  const written = file === undefined ? {} : await objectIn(cli, file);
  const { baseline, kind } = written as {
    baseline?: { days?: number; deviations?: number };
    kind?: string;
  };
  const isOfErrors = options.newErrors === true || kind === "new_error";
  if (baseline) {
    rule.p_threshold = baseline.deviations;
    rule.p_baseline = { days: baseline.days ?? 7 };
  }
  for (const member of members) {
    // list prints what a rule of errors cannot change.
    if (isOfErrors && conditions.includes(member)) continue;
    if (written[member] !== undefined) rule[`p_${member}`] = written[member];
  }
  const given = above ?? below ?? options.threshold;
  const comparison = above !== undefined ? "gt" : below !== undefined ? "lt" : options.comparison;
  const { window, cooldown, paused, days } = options;
  Object.assign(rule, {
    ...name !== undefined && { p_name: name },
    ...description !== undefined && { p_description: description },
    ...query !== undefined && { p_query_dsl: query },
    ...given !== undefined && { p_threshold: numberOf(given) },
    ...comparison !== undefined && { p_comparison: comparison },
    ...days !== undefined && { p_baseline: { days: wholeNumber("--days", days, 3, 7) } },
    ...window !== undefined && { p_window_minutes: wholeNumber("--window", window, 1, 1440) },
    ...cooldown !== undefined && {
      p_cooldown_minutes: wholeNumber("--cooldown", cooldown, 0, 10_080),
    },
    ...paused && { p_enabled: false },
    ...isOfErrors && { p_kind: "new_error" },
  });
  // The service checks more, but `alerts add` may have nothing to send.
  if (!/^[^\s@]+@[^\s@]+\.[a-z][a-z\d-]*$/i.test(email ?? "a@b.c")) {
    throw new Failure(`--email takes one address, not ${email}.`);
  }
  if (!/^(?:https:\/\/|http:\/\/127\.0\.0\.1\b)\S*$/i.test(webhook ?? "https://a")) {
    throw new Failure(`--webhook takes an address that begins with https://, not ${webhook}.`);
  }
  if (email !== undefined || webhook !== undefined) {
    rule.p_notification_destinations = [
      ...email === undefined ? [] : ["email"],
      ...webhook === undefined ? [] : ["webhook"],
    ];
    rule.p_notification_config = {
      ...email !== undefined && { email },
      ...webhook !== undefined && { webhook_url: webhook },
    };
  }
  cli.query = String(rule.p_query_dsl ?? "");
  return rule as Partial<Rule>;
}

function numberOf(value: string): number {
  const number = Number(value);
  if (value.trim() !== "" && Number.isFinite(number)) return number;
  throw new Failure(`a threshold is a number, not ${value}.`);
}

async function objectIn(cli: Cli, file: string): Promise<Record<string, unknown>> {
  const json = file === "-" ? await text(process.stdin) : await readFile(cli.path(file), "utf8");
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The error is thrown below.
  }
  throw new Failure(`${file} has no JSON object.`);
}
