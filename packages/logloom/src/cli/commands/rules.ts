import { randomBytes } from "node:crypto";
import type { Reader } from "../../read/reader.ts";
import type { IngestRule } from "../../read/types.ts";
import { previewRule } from "../../../../../supabase/functions/_shared/ingest_rules/preview_rule.ts";
import {
  actionOf,
  detailOf,
  type WrittenAction,
} from "../../../../../supabase/functions/_shared/ingest_rules/written_action.ts";
import { levelOf } from "../../../../../supabase/functions/ingest/levels.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { Failure } from "../failure.ts";
import { columns, harmless, jsonLine } from "../format_lines.ts";
import { idOf, type Named } from "../id_of_name.ts";
import { openReader, type TargetOptions, withTarget } from "../project_options.ts";

type Name = "name" | "condition" | "mask" | "sample" | "parse" | "set" | "remove" | "level";
type Options =
  & TargetOptions
  & Omit<WrittenAction, "type" | "what" | "rate">
  & { readonly [Option in Name]?: string }
  & { readonly [Option in "json" | "drop" | "on" | "off"]?: true };

export function rules(cli: Cli): Command {
  const summary = "Lists, makes, tries and orders ingest rules, which change events as they arrive";
  const group = newCommand(cli, "rules", summary, {
    examples: ["add Secrets --mask email,card --hash", "preview --drop --condition level:debug"],
    notes: `Rules for alerts are under ${cli.call("alerts")}.`,
  });
  for (const part of [list, add, update, remove, order, preview]) group.addCommand(part(cli));
  return group;
}

function newPart(cli: Cli, name: string, summary: string, examples: string[], notes?: string) {
  return withTarget(newCommand(cli, `rules ${name}`, summary, { examples, notes }))
    .option("--json", "the service's answer as JSON");
}

function withAction(command: Command): Command {
  return command
    .option("--condition <query>", "the events: tests joined by AND; else all events")
    .option("--mask <detectors>", "replaces what they find: email,card,jwt …")
    .option("--pattern <regex>", "masks what a regular expression matches")
    .option("--label <name>", "the name of what --pattern masks: [name]; else custom")
    .option("--in <places>", "where a mask looks: msg,@token; else everywhere")
    .option("--hash", "adds a hash to masks, so that equal values can be grouped")
    .option("--drop", "stores nothing of the events")
    .option("--sample <rate>", "stores a share of the events, such as 0.1")
    .option("--by <what>", "samples by req_id, so that requests stay whole, or by record")
    .option("--parse <pattern>", "makes attributes of parts of msg: '<method> <path>'")
    .option("--set <place=value>", "sets a field or an attribute: env=test, @plan=free")
    .option("--remove <attribute>", "removes an attribute: @headers")
    .option("--level <from>", "a level, or the field or attribute that has it: @severity");
}

function writtenBy({ mask, drop, sample, parse, set, remove, level, ...options }: Options) {
  const { pattern, label, hash, by } = options;
  const [place, value] = set?.split(/=(.*)/s) ?? [];
  const given: WrittenAction[] = [];
  if (mask !== undefined || pattern !== undefined) {
    given.push({ type: "mask", what: mask, pattern, label, in: options.in, hash });
  }
  if (drop) given.push({ type: "drop" });
  if (sample !== undefined) given.push({ type: "sample", rate: sample, by });
  if (parse !== undefined) given.push({ type: "parse", pattern: parse });
  if (set !== undefined) given.push({ type: "set", place, value });
  if (remove !== undefined) given.push({ type: "remove", place: remove });
  if (level !== undefined) given.push({ type: "level", value: level });
  const [first, second] = given;
  if (second) throw new Failure(`a rule has one action, not ${first.type} and ${second.type}.`);
  if (first?.type !== "mask" && (label ?? options.in ?? hash) !== undefined) {
    throw new Failure("--label, --in and --hash are for --mask.");
  }
  if (first?.type !== "sample" && by !== undefined) throw new Failure("--by is for --sample.");
  return first && actionOf(first);
}

async function load(cli: Cli, options: Options) {
  const reader = await openReader(cli, options);
  const all = await reader.call("list_ingest_rules", {}, cli);
  async function* names(): AsyncGenerator<Named> {
    for (const { rule_id, name } of all) yield { id: rule_id, name, detail: "" };
  }
  const idNamed = (named: string) => idOf("ingest rule", named, names());
  return { reader, all, idNamed };
}

/** The parameters of a rule. The first mask with a hash makes the key, and later ones share it. */
async function parametersOf(cli: Cli, options: Options, reader: Reader, all: IngestRule[]) {
  const makesKey = options.hash && !all.some(({ action }) => action.hash === true);
  const key = { hash_key: randomBytes(32).toString("hex") };
  cli.query = options.condition ?? "";
  return {
    p_condition: options.condition,
    p_action: writtenBy(options),
    p_is_on: options.on ?? (options.off ? false : undefined),
    p_secrets: makesKey ? await reader.seal("ingest", key, cli) : undefined,
  };
}

function print(all: readonly IngestRule[], { json }: Options): void {
  if (json) return all.forEach((rule) => console.log(jsonLine(rule)));
  const rows = all.map(({ rule_id, name, is_on, condition, action }) => [
    ...[rule_id, name, is_on ? "on" : "off", condition ?? "-"],
    `${action.type} ${detailOf(action)}`,
  ]);
  console.log(columns([["id", "name", "state", "condition", "action"], ...rows]).join("\n"));
}

function list(cli: Cli): Command {
  return newPart(cli, "list", "Lists the rules in the order in which they apply", ["", "--json"])
    .action(async (options: Options) => {
      const { all } = await load(cli, options);
      if (all.length > 0) return print(all, options);
      console.error(`logloom: No ingest rules: ${cli.call("rules add")} makes one.`);
    });
}

function add(cli: Cli): Command {
  return withAction(newPart(cli, "add", "Makes a rule after the others", [
    "Secrets --mask email,card,jwt --in msg,@token --hash",
    "'Less debug' --condition 'level:debug service:api' --sample 0.1",
  ]))
    .argument("<name>", "its name")
    .option("--off", "make it, and do not apply it yet")
    .action(async (p_name: string, options: Options) => {
      const { reader, all } = await load(cli, options);
      const { p_action, ...others } = await parametersOf(cli, options, reader, all);
      if (p_action === undefined) throw new Failure("say what to do: --mask, --drop, --sample …");
      print(
        [await reader.call("create_ingest_rule", { p_name, p_action, ...others }, cli)],
        options,
      );
    });
}

function update(cli: Cli): Command {
  const notes = "A new action replaces the old one whole. --condition '' removes the condition.";
  return withAction(newPart(cli, "update", "Changes a rule", ["Secrets --off"], notes))
    .argument("<rule>", "the rule's name or id")
    .option("--name <name>", "a new name")
    .option("--on", "apply it")
    .option("--off", "no longer apply it")
    .action(async (named: string, options: Options) => {
      const { reader, all, idNamed } = await load(cli, options);
      const names = { p_rule_id: await idNamed(named), p_name: options.name };
      const given = { ...names, ...await parametersOf(cli, options, reader, all) };
      print([await reader.call("update_ingest_rule", given, cli)], options);
    });
}

function remove(cli: Cli): Command {
  return newPart(cli, "remove", "Deletes a rule", ["Secrets"])
    .argument("<rule>", "the rule's name or id")
    .action(async (named: string, options: Options) => {
      const { reader, idNamed } = await load(cli, options);
      const p_rule_id = await idNamed(named);
      const answer = await reader.call("delete_ingest_rule", { p_rule_id }, cli);
      console.log(options.json ? jsonLine(answer) : `Deleted ${harmless(named)}.`);
    });
}

function order(cli: Cli): Command {
  return newPart(cli, "order", "Puts rules first, in this order", ["Secrets 'Less debug'"])
    .argument("<rules...>", "their names or ids; the others follow as they are")
    .action(async (named: string[], options: Options) => {
      const { reader, all, idNamed } = await load(cli, options);
      const first = await Promise.all(named.map(idNamed));
      const p_rule_ids = [...new Set([...first, ...all.map(({ rule_id }) => rule_id)])];
      print(await reader.call("order_ingest_rules", { p_rule_ids }, cli), options);
    });
}

function preview(cli: Cli): Command {
  const summary = "Shows what a rule would do to the records of the last hour, and stores nothing";
  const examples = ["Secrets", "--mask email --condition service:shop"];
  const notes =
    "Of a rule that is named the options stand for its own values. Hashes are shown as …";
  return withAction(newPart(cli, "preview", summary, examples, notes))
    .argument("[rule]", "the name or id of a rule")
    .action(async (named: string | undefined, options: Options) => {
      const { reader, all, idNamed } = await load(cli, options);
      const id = named === undefined ? undefined : await idNamed(named);
      const rule = all.find(({ rule_id }) => rule_id === id);
      const p_action = writtenBy(options) ?? rule?.action;
      const p_condition = cli.query = options.condition ?? rule?.condition ?? "";
      if (p_action === undefined) throw new Failure("name a rule, or say what to do: --mask …");
      const answer = await reader.call("preview_ingest_rule", { p_condition, p_action }, cli);
      const records = previewRule(answer.rule, answer.examples, levelOf);
      if (options.json) return console.log(jsonLine({ ...answer, records }));
      console.log(`${answer.matched} of ${answer.seen} records of the last hour match.`);
      for (const { isLeftOut, parts } of records) {
        const lines = parts.flatMap(({ name, before, after }) =>
          [["-", before], ["+", after]].flatMap(([sign, value]) =>
            before === after || value === undefined
              ? []
              : [`${sign} ${harmless(`${name}=${value}`)}`]
          )
        );
        const same = parts.filter(({ before, after }) => before === after)
          .map(({ name, after }) => harmless(`${name}=${after}`));
        console.log([`${isLeftOut ? "x" : " "} ${same.join(" ")}`, ...lines].join("\n"));
      }
    });
}
