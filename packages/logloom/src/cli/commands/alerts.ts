import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { ParametersOf } from "../../read/reader.ts";
import type { AlertRule } from "../../read/types.ts";
import { jsonOf } from "../exact.ts";
import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../frame.ts";
import { columns, harmless, jsonLine } from "../lines.ts";
import { timeOf, wholeNumber } from "../options.ts";
import { openReader, type TargetOptions, withTarget } from "../target.ts";

interface Options extends TargetOptions {
  json?: true;
}

const example = "4c5d0f6a-1d0b-4d8a-9c1b-0d9f6e6f7b21";

export function alerts(cli: Cli): Command {
  const group = newCommand(cli, "alerts", "Lists, makes, tries and stops alert rules", {
    examples: [
      "create --name 'API errors' --query 'level:error service:api' --above 10 --window 5 " +
      "--email ops@example.com",
      "list",
      "history --since 7d",
    ],
  });
  const parts = [list, create, preview, test, pause, resume, remove, history];
  for (const part of parts) group.addCommand(part(cli));
  return group;
}

/** A part of the command, with what all parts take. */
function newPart(cli: Cli, name: string, summary: string, examples: string[], notes?: string) {
  return withTarget(newCommand(cli, `alerts ${name}`, summary, { examples, notes }))
    .option("--json", "the service's answer as JSON");
}

function list(cli: Cli): Command {
  return newPart(cli, "list", "Lists the rules, the newest first", ["", "--json"])
    .action(async (options: Options) => {
      const reader = await openReader(cli, options);
      const rows = [["id", "name", "state", "fires", "query"]];
      for await (const rule of reader.list("list_alert_rules", {}, cli)) {
        if (options.json) console.log(jsonLine(rule));
        rows.push([
          rule.rule_id,
          rule.name,
          rule.last_error !== null
            ? "failing"
            : rule.late_seconds >= 120
            ? "late"
            : rule.enabled
            ? "on"
            : "paused",
          condition(rule),
          rule.query_dsl,
        ]);
      }
      if (!options.json && rows.length > 1) console.log(columns(rows).join("\n"));
    });
}

const signs = { gt: ">", gte: ">=", lt: "<", lte: "<=", eq: "=", neq: "!=" };

function condition({ comparison, threshold, window_minutes }: AlertRule): string {
  return `${signs[comparison]} ${threshold} in ${window_minutes} min`;
}

interface RuleOptions extends Options {
  file?: string;
  name?: string;
  description?: string;
  query?: string;
  above?: string;
  below?: string;
  threshold?: string;
  comparison?: string;
  window?: string;
  cooldown?: string;
  email?: string;
  webhook?: string;
  paused?: true;
}

function withCondition(command: Command): Command {
  return command
    .option("--file <file>", "the rule as a JSON object, as list --json prints it; - is stdin")
    .option("--query <query>", "what is counted or computed")
    .option("--above <n>", "fires when the value is greater")
    .option("--below <n>", "fires when the value is less")
    .option("--comparison <word>", "instead: gt, gte, lt, lte, eq or neq, with --threshold")
    .option("--threshold <n>", "what the value is compared with")
    .option("--window <minutes>", "how far back it looks, 1 to 1440")
    .option("--cooldown <minutes>", "how long it is silent after it fired, 0 to 10080");
}

function create(cli: Cli): Command {
  return withCondition(newPart(
    cli,
    "create",
    "Makes a rule from options, or from a JSON file",
    [
      "--name 'API errors' --query 'level:error service:api' --above 10 --window 5 " +
      "--email ops@example.com",
      "--file rule.json --paused",
    ],
    "Options win over the file. Without --cooldown it is silent for 30 minutes after it fired.",
  ))
    .option("--name <name>", "the rule's name")
    .option("--description <text>", "what to do about it")
    .option("--email <address>", "whom to mail")
    .option("--webhook <url>", "where to post")
    .option("--paused", "make it, and do not evaluate it yet")
    .action(async (options: RuleOptions) => {
      const rule = { p_cooldown_minutes: 30, p_enabled: true, ...await ruleOf(cli, options) };
      for (const [option, name] of required) {
        if (rule[name] === undefined) throw new Failure(`${option} is missing, or a file has it.`);
      }
      const reader = await openReader(cli, options);
      const made = await reader.call("create_alert_rule", rule as Rule, cli);
      console.log(options.json ? jsonLine(made) : `Made ${harmless(made.name)}: ${made.rule_id}`);
    });
}

const required = [
  ["--name", "p_name"],
  ["--query", "p_query_dsl"],
  ["--above", "p_threshold"],
  ["--window", "p_window_minutes"],
] as const;

/** The members of a file that a rule is made of. */
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

type Rule = ParametersOf<"create_alert_rule">;

/** What the options and the file say; whether it is a rule is for the service to tell. */
async function ruleOf(cli: Cli, options: RuleOptions): Promise<Partial<Rule>> {
  const { name, description, query, above, below, email, webhook, file } = options;
  const rule: Record<string, unknown> = {};
  const written = file === undefined ? {} : await objectIn(cli, file);
  for (const member of members) {
    if (written[member] !== undefined) rule[`p_${member}`] = written[member];
  }
  const given = above ?? below ?? options.threshold;
  const comparison = above !== undefined ? "gt" : below !== undefined ? "lt" : options.comparison;
  const { window, cooldown, paused } = options;
  Object.assign(rule, {
    ...name !== undefined && { p_name: name },
    ...description !== undefined && { p_description: description },
    ...query !== undefined && { p_query_dsl: query },
    ...given !== undefined && { p_threshold: numberOf(given) },
    ...comparison !== undefined && { p_comparison: comparison },
    ...window !== undefined && { p_window_minutes: wholeNumber("--window", window, 1, 1440) },
    ...cooldown !== undefined && {
      p_cooldown_minutes: wholeNumber("--cooldown", cooldown, 0, 10_080),
    },
    ...paused && { p_enabled: false },
  });
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
    // The message below says it.
  }
  throw new Failure(`${file} has no JSON object.`);
}

function preview(cli: Cli): Command {
  return withCondition(newPart(
    cli,
    "preview",
    "Shows when a rule would have fired, and stores nothing",
    ["--query 'level:error' --above 10 --window 5", `${example} --above 20`],
    "With a rule's id the options stand for its own values.",
  ))
    .argument("[id]", "an existing rule")
    .action(async (id: string | undefined, options: RuleOptions) => {
      const { p_query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes } =
        await ruleOf(cli, options);
      const reader = await openReader(cli, options);
      const answer = await reader.call("preview_alert_rule", {
        p_rule_id: id,
        p_query_dsl,
        p_threshold,
        p_comparison,
        p_window_minutes,
        p_cooldown_minutes,
      }, cli);
      if (options.json) return console.log(jsonLine(answer));
      const times = answer.total_alerts === 1 ? "once" : `${answer.total_alerts} times`;
      console.log(`It would have fired ${times} from ${answer.ts_from} to ${answer.ts_to}.`);
      for (const { window_end, value, group } of answer.alerts) {
        console.log(`  ${window_end}  ${value}${group ? `  ${harmless(jsonOf(group))}` : ""}`);
      }
    });
}

function test(cli: Cli): Command {
  return newPart(cli, "test", "Sends a test notification to each destination of a rule", [example])
    .argument("<id>", "the rule's id")
    .action(async (id: string, options: Options) => {
      const reader = await openReader(cli, options);
      const sent = await reader.call("test_alert_rule", { p_rule_id: id }, cli);
      if (options.json) return console.log(jsonLine(sent));
      for (const { channel, status, last_error } of sent) {
        console.log(`${channel}: ${status}${last_error ? `, ${harmless(last_error)}` : ""}`);
      }
    });
}

function pause(cli: Cli): Command {
  return newPart(cli, "pause", "Stops a rule until resume", [example])
    .argument("<id>", "the rule's id")
    .action((id: string, options: Options) => enable(cli, id, false, options));
}

function resume(cli: Cli): Command {
  return newPart(cli, "resume", "Evaluates a paused rule again", [example])
    .argument("<id>", "the rule's id")
    .action((id: string, options: Options) => enable(cli, id, true, options));
}

async function enable(cli: Cli, id: string, isOn: boolean, options: Options): Promise<void> {
  const reader = await openReader(cli, options);
  const rule = await reader.call("update_alert_rule", { p_rule_id: id, p_enabled: isOn }, cli);
  console.log(
    options.json ? jsonLine(rule) : `${harmless(rule.name)} is ${isOn ? "on" : "paused"}.`,
  );
}

function remove(cli: Cli): Command {
  return newPart(cli, "delete", "Deletes a rule; its history stays", [example])
    .argument("<id>", "the rule's id")
    .action(async (id: string, options: Options) => {
      const reader = await openReader(cli, options);
      const answer = await reader.call("delete_alert_rule", { p_rule_id: id }, cli);
      console.log(options.json ? jsonLine(answer) : `Deleted ${id}.`);
    });
}

function history(cli: Cli): Command {
  return newPart(cli, "history", "Lists the alerts that fired, the newest first", [
    "--since 7d",
    `${example} --limit 10`,
  ])
    .argument("[id]", "only this rule")
    .option("--since <when>", "15m, 2h, 7d or a time; else all")
    .option("--limit <n>", "the most alerts, 1 to 1000", "100")
    .action(
      async (id: string | undefined, options: Options & { since?: string; limit: string }) => {
        const limit = wholeNumber("--limit", options.limit, 1, 1000);
        const reader = await openReader(cli, options);
        const found = await reader.call("list_alert_history", {
          p_rule_id: id,
          p_ts_from: timeOf("--since", options.since),
          p_limit: limit,
        }, cli);
        if (options.json) return found.forEach((alert) => console.log(jsonLine(alert)));
        const rows = found.map((alert) => [
          alert.triggered_at.slice(0, 19),
          alert.rule_id,
          String(alert.value),
          alert.group ? jsonOf(alert.group) : "-",
          alert.acknowledged ? "acknowledged" : "open",
          alert.notification_error ?? (alert.notification_sent ? "sent" : "not sent"),
        ]);
        const head = ["triggered", "rule", "value", "group", "state", "notification"];
        if (rows.length > 0) console.log(columns([head, ...rows]).join("\n"));
      },
    );
}
