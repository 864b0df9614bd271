import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";

/** The subcommands and options that may follow a command. */
interface Place {
  /** The words of the command, without the program's name. */
  readonly words: readonly string[];
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly { readonly name: string; readonly summary: string }[];
}

const shells: Record<string, (places: readonly Place[]) => string> = { bash, zsh, fish };

export function completion(cli: Cli): Command {
  const command = newCommand(cli, "completion", "Prints a script that completes words in a shell", {
    examples: [
      "bash > ~/.local/share/bash-completion/completions/logloom",
      "zsh > ~/.zfunc/_logloom",
      "fish > ~/.config/fish/completions/logloom.fish",
    ],
  });
  return command
    .argument("<shell>", "bash, zsh or fish")
    .action((name: string) => {
      const shell = Object.hasOwn(shells, name) ? shells[name] : undefined;
      if (shell === undefined) throw new Failure(`there is bash, zsh and fish, not ${name}.`);
      console.log(shell(placesOf(command.parent ?? command)));
    });
}

function placesOf(command: Command, words: readonly string[] = []): Place[] {
  const place: Place = {
    words,
    commands: command.commands.map((one) => ({ name: one.name(), summary: one.description() })),
    options: [
      ...command.options.map(({ long, description }) => ({
        name: long ?? "",
        summary: description,
      })),
      { name: "--help", summary: "show this" },
    ],
  };
  return [place, ...command.commands.flatMap((one) => placesOf(one, [...words, one.name()]))];
}

const namesOf = ({ commands, options }: Place) =>
  [...commands, ...options].map(({ name }) => name).join(" ");

/** Puts a text in single quotes, which all three shells understand. */
const quoted = (text: string) => `'${text.replaceAll("'", "")}'`;

function bash(places: readonly Place[]): string {
  const cases = places.map((place) =>
    `    ${quoted(place.words.join(" "))}) words=${quoted(namesOf(place))} ;;`
  );
  return `_logloom() {
  local place='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    _logloom_is_place "\${place:+$place }$word" && place="\${place:+$place }$word"
  done
  case $place in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [[ \${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
_logloom_is_place() {
  case $1 in
    ${places.slice(1).map(({ words }) => quoted(words.join(" "))).join(" | ")}) return 0 ;;
  esac
  return 1
}
complete -F _logloom logloom`;
}

function zsh(places: readonly Place[]): string {
  const described = ({ commands, options }: Place) =>
    [...commands, ...options].map(({ name, summary }) =>
      quoted(`${name}:${summary.replaceAll(":", "\\:")}`)
    ).join(" ");
  const cases = places.map((place) =>
    `    ${quoted(place.words.join(" "))}) choices=(${described(place)}) ;;`
  );
  return `#compdef logloom
_logloom() {
  local place='' word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${place:+$place }$word" in
      ${places.slice(1).map(({ words }) => quoted(words.join(" "))).join(" | ")})
        place="\${place:+$place }$word" ;;
    esac
  done
  case $place in
${cases.join("\n")}
  esac
  _describe 'logloom' choices || _files
}
if [[ $funcstack[1] == _logloom ]]; then _logloom "$@"; else compdef _logloom logloom; fi`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, commands, options }) => {
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const deeper = commands.map(({ name }) => name).join(" ");
    const here = deeper === "" ? [] : [`not __fish_seen_subcommand_from ${deeper}`];
    const when = quoted([...seen, ...here].join("; and ") || "true");
    return [
      ...commands.map(({ name, summary }) =>
        `complete -c logloom -f -n ${when} -a ${name} -d ${quoted(summary)}`
      ),
      ...options.map(({ name, summary }) =>
        `complete -c logloom -n ${when} -l ${name.slice(2)} -d ${quoted(summary)}`
      ),
    ];
  });
  return lines.join("\n");
}
