import { LogloomError } from "../../read/error.ts";
import type { Reader } from "../../read/reader.ts";
import type { AlertRule } from "../../read/types.ts";
import { jsonOf } from "../../../../../supabase/functions/_shared/exact_numbers.ts";
import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { limitBytes } from "../guest/migrations.ts";
import { columns, harmless, jsonLine } from "../format_lines.ts";
import { idOf, type Named } from "../id_of_name.ts";
import { timeOf, wholeNumber } from "../options.ts";
import { type Rule, ruleOf, type RuleOptions, withCondition } from "../rule_options.ts";
import { openReader, type TargetOptions, withTarget } from "../project_options.ts";

interface Options extends TargetOptions {
  json?: true;
}

const example = "'API errors'";

/** Returns the id of the rule with this name or id. */
function ruleId(cli: Cli, reader: Reader, named: string): Promise<string> {
  async function* rules(): AsyncGenerator<Named> {
    for await (const rule of reader.list("list_alert_rules", {}, cli)) {
      yield { id: rule.rule_id, name: rule.name, detail: rule.query_dsl };
    }
  }
  return idOf("rule", named, rules());
}

export function alerts(cli: Cli): Command {
  const group = newCommand(cli, "alerts", "Lists, makes, tries and stops alert rules", {
    examples: [
      "create --name 'API errors' --query 'level:error service:api' --above 10 --window 5 " +
      "--email ops@example.com",
      "list",
      "history --since 7d",
    ],
  });
  const parts = [list, create, add, preview, test, pause, resume, remove, history];
  for (const part of parts) group.addCommand(part(cli));
  return group;
}

/** Creates a subcommand with the options that all of them share. */
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
            : !rule.enabled
            ? "paused"
            : rule.baseline && rule.baseline.known_days < 3
            ? "waits"
            : "on",
          condition(rule),
          rule.query_dsl,
        ]);
      }
      if (rows.length === 1) {
        console.error(`logloom: No rules: ${cli.call("alerts create")} makes one.`);
      } else if (!options.json) console.log(columns(rows).join("\n"));
    });
}

const signs = { gt: ">", gte: ">=", lt: "<", lte: "<=", eq: "=", neq: "!=" };

function condition({ comparison, threshold, window_minutes, baseline, kind }: AlertRule): string {
  if (kind === "new_error") return "new and returning errors";
  const what = baseline ? ` deviations from ${baseline.days} days` : "";
  return `${signs[comparison]} ${threshold}${what} in ${window_minutes} min`;
}

function create(cli: Cli): Command {
  return withCondition(newPart(
    cli,
    "create",
    "Makes a rule from options, or from a JSON file",
    [
      "--name 'API errors' --query 'level:error service:api' --above 10 --window 5 " +
      "--email ops@example.com",
      "--name 'New errors' --new-errors --query service:api --email ops@example.com",
      "--file rule.json --paused",
    ],
    "Options win over the file. Without --cooldown it is silent for 30 minutes after it fired.",
  ))
    .option("--name <name>", "the rule's name")
    .option("--description <text>", "what to do about it")
    .option("--email <address>", "whom to mail")
    .option("--webhook <url>", "where to post")
    .option("--paused", "make it, and do not evaluate it yet")
    .option("--new-errors", "fires for each error group that is new or back; --query narrows them")
    .action(async (options: RuleOptions) => {
      const given = await ruleOf(cli, options);
      const isOfErrors = given.p_kind === "new_error";
      const rule: Partial<Rule> = {
        ...!isOfErrors && { p_cooldown_minutes: 30 },
        p_enabled: true,
        ...given,
      };
      for (const [option, name] of isOfErrors ? required.slice(0, 1) : required) {
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

/** A rule that fires above its threshold. */
const above = (
  p_threshold: number,
  p_name: string,
  p_query_dsl: string,
  minutes: number,
): Rule => ({
  ...{ p_name, p_query_dsl, p_threshold, p_window_minutes: minutes, p_comparison: "gt" },
  ...{ p_cooldown_minutes: 60, p_enabled: true },
});

const nearlyFull = "Database nearly full";

const projectRules = (limit: number | null) => [
  above(0, "Failed jobs", "@kind:(failed_job failed_request)", 5),
  above(0, "New slow statement", "@kind:statement @new_in_top_ten:true", 60),
  ...limit === null
    ? []
    : [above(0.8 * limit, nearlyFull, "@kind:database_size | max(@bytes)", 120)],
];

interface AddOptions extends RuleOptions {
  databaseLimit: string;
  dryRun?: true;
}

/** Returns what the options say otherwise than a rule that is there. */
function differences(
  { threshold, notification_destinations: channels, notification_config: config }: AlertRule,
  { p_name, p_threshold }: Rule,
  { email, webhook }: RuleOptions,
): string[] {
  const values = [
    ["threshold", threshold, p_name === nearlyFull ? p_threshold : undefined],
    ["email", channels.includes("email") ? config.email : undefined, email],
    ["webhook", channels.includes("webhook") ? config.webhook_url : undefined, webhook],
  ];
  return values.filter(([, is, wanted]) => wanted !== undefined && `${is}` !== `${wanted}`)
    .map(([name, is, wanted]) => `${name} ${is ?? "none"}, not ${wanted}`);
}

function add(cli: Cli): Command {
  return newPart(cli, "add", "Makes the rules for the project's own events that are missing", [
    "project --email ops@example.com --database-limit 8GB",
    "project --dry-run",
  ])
    .argument("<set>", "project, the only set")
    .option("--email <address>", "whom to mail")
    .option("--webhook <url>", "where to post")
    .option("--database-limit <size>", "the size at which the database is full: 500MB, 8GB", "none")
    .option("--dry-run", "show the rules, and make none")
    .action(async (set: string, options: AddOptions) => {
      if (set !== "project") throw new Failure(`there is no set ${set}; say project.`);
      const limit = limitBytes(options.databaseLimit, "--database-limit");
      const given = await ruleOf(cli, options);
      const rules = projectRules(limit).map((rule): Rule => ({ ...rule, ...given }));
      if (options.dryRun) return rules.forEach((rule) => console.log(jsonLine(rule)));
      const reader = await openReader(cli, options);
      const there = new Map<string, AlertRule>();
      for await (const rule of reader.list("list_alert_rules", {}, cli)) there.set(rule.name, rule);
      const silent: string[] = [];
      let toChange: string | undefined;
      for (const rule of rules) {
        const name = `${rule.p_name}`;
        const old = there.get(name);
        const now = old ?? await reader.call("create_alert_rule", rule, cli);
        const others = old ? differences(old, rule, options) : [];
        if (now.notification_destinations.length === 0) silent.push(name);
        if (others.length > 0 || silent.length > 0) toChange ??= name;
        const kept = others.length > 0 ? ` and stays unchanged: ${others.join("; ")}` : "";
        const said = old ? `${name} is there${kept}.` : `Made ${name}.`;
        console.log(options.json ? jsonLine({ made: !old, others, ...now }) : harmless(said));
      }
      const names = silent.join(", ");
      if (names) console.error(`logloom: Without --email or --webhook nobody is told of ${names}.`);
      if (toChange) {
        console.error(
          `logloom: To change a rule, edit it in the console, or delete it ` +
            `(${cli.call("alerts delete")} '${toChange}') and add it again.`,
        );
      }
    });
}

function preview(cli: Cli): Command {
  return withCondition(newPart(
    cli,
    "preview",
    "Shows when a rule would have fired, and stores nothing",
    ["--query 'level:error' --above 10 --window 5", `${example} --above 20`],
    "Of a rule that is named the options stand for its own values.",
  ))
    .argument("[rule]", "the name or id of a rule")
    .action(async (named: string | undefined, options: RuleOptions) => {
      const rule = await ruleOf(cli, options);
      if (rule.p_kind === "new_error") {
        throw new Failure("a rule of new errors has no preview: it fires for each that is new.");
      }
      const { p_query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes } = rule;
      const reader = await openReader(cli, options);
      const answer = await reader.call("preview_alert_rule", {
        p_rule_id: named === undefined ? undefined : await ruleId(cli, reader, named),
        p_query_dsl,
        p_threshold,
        p_comparison,
        p_window_minutes,
        p_cooldown_minutes,
        p_baseline: rule.p_baseline,
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
    .argument("<rule>", "the rule's name or id")
    .action(async (named: string, options: Options) => {
      const reader = await openReader(cli, options);
      const p_rule_id = await ruleId(cli, reader, named);
      const sent = await reader.call("test_alert_rule", { p_rule_id }, cli);
      if (options.json) return console.log(jsonLine(sent));
      for (const { channel, status, last_error } of sent) {
        console.log(`${channel}: ${status}${last_error ? `, ${harmless(last_error)}` : ""}`);
      }
    });
}

const pause = (cli: Cli) => enabling(cli, "pause", "Stops a rule until resume", false);
const resume = (cli: Cli) => enabling(cli, "resume", "Evaluates a paused rule again", true);

function enabling(cli: Cli, name: string, summary: string, isOn: boolean): Command {
  return newPart(cli, name, summary, [example])
    .argument("<rule>", "the rule's name or id")
    .action(async (named: string, options: Options) => {
      const reader = await openReader(cli, options);
      const p_rule_id = await ruleId(cli, reader, named);
      const rule = await reader.call("update_alert_rule", { p_rule_id, p_enabled: isOn }, cli);
      const said = `${harmless(rule.name)} is ${isOn ? "on" : "paused"}.`;
      console.log(options.json ? jsonLine(rule) : said);
    });
}

function remove(cli: Cli): Command {
  return newPart(cli, "delete", "Deletes a rule; its history stays", [example])
    .argument("<rule>", "the rule's name or id")
    .action(async (named: string, options: Options) => {
      const reader = await openReader(cli, options);
      const p_rule_id = await ruleId(cli, reader, named);
      const answer = await reader.call("delete_alert_rule", { p_rule_id }, cli);
      console.log(options.json ? jsonLine(answer) : `Deleted ${harmless(named)}.`);
    });
}

function history(cli: Cli): Command {
  return newPart(cli, "history", "Lists the alerts that fired, the newest first", [
    "--since 7d",
    `${example} --limit 10`,
  ])
    .argument("[rule]", "the name or id of the only rule")
    .option("--since <when>", "15m, 2h, 7d or a time; else all")
    .option("--limit <n>", "the most alerts, 1 to 1000", "100")
    .action(
      async (named: string | undefined, options: Options & { since?: string; limit: string }) => {
        const limit = wholeNumber("--limit", options.limit, 1, 1000);
        const reader = await openReader(cli, options);
        const found = await reader.call("list_alert_history", {
          p_rule_id: named === undefined ? undefined : await ruleId(cli, reader, named),
          p_ts_from: timeOf("--since", options.since),
          p_limit: limit,
        }, cli);
        if (found.length === 0) {
          const where = options.since === undefined ? "yet" : `since ${options.since}`;
          console.error(`logloom: No alerts ${where}: ${cli.call("alerts list")} shows the rules.`);
          return;
        }
        if (options.json) return found.forEach((alert) => console.log(jsonLine(alert)));
        const names = await ruleNames(cli, reader);
        const rows = found.map((alert) => [
          alert.triggered_at.slice(0, 19),
          names === undefined ? alert.rule_id : names.get(alert.rule_id) ?? "a deleted rule",
          String(alert.value),
          alert.group ? jsonOf(alert.group) : "-",
          alert.acknowledged ? "acknowledged" : "not acknowledged",
          alert.notification_error ?? (alert.notification_sent ? "sent" : "not sent"),
        ]);
        const head = ["triggered", "rule", "value", "group", "state", "notification"];
        console.log(columns([head, ...rows]).join("\n"));
      },
    );
}

/** Returns the names of all rules by id, or nothing if the user may not list rules. */
async function ruleNames(cli: Cli, reader: Reader): Promise<Map<string, string> | undefined> {
  const names = new Map<string, string>();
  try {
    for await (const { rule_id, name } of reader.list("list_alert_rules", {}, cli)) {
      names.set(rule_id, name);
    }
  } catch (error) {
    if (!(error instanceof LogloomError) || error.status !== 403) throw error;
    return undefined;
  }
  return names;
}
