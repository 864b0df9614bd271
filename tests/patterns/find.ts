import { checkout, functionNames } from "../../local/stack.ts";

/** A regular expression as it stands in a file. */
export interface Pattern {
  /** File and line. */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** What stands for a value that a pattern is made of at run time. */
const interpolated = "interpolated";

/** Every regular expression of the functions: of their first files, and of what these import of ours. */
export async function functionPatterns(): Promise<Pattern[]> {
  const patterns: Pattern[] = [];
  const files = new Set(functionNames.map((name) => `supabase/functions/${name}/index.ts`));
  // A set goes on with what is added to it meanwhile.
  for (const file of files) {
    const { found, imports } = patternsIn(file, await Deno.readTextFile(`${checkout}/${file}`));
    patterns.push(...found);
    for (const path of imports) files.add(path);
  }
  return patterns;
}

/** The regular expressions of a text, and the files of ours that it imports. */
export function patternsIn(
  file: string,
  text: string,
): { readonly found: Pattern[]; readonly imports: string[] } {
  const found: Pattern[] = [];
  const imports: string[] = [];
  const add = (start: number, source: string, flags: string) => {
    const line = text.slice(0, start).split("\n").length;
    found.push({ place: `${file}:${line}`, source, flags });
  };
  let unreadable = false;
  const addMade = (node: Deno.lint.NewExpression | Deno.lint.CallExpression) => {
    const { callee, arguments: made } = node;
    if (callee.type !== "Identifier" || callee.name !== "RegExp") return;
    const [source, flags = ""] = made.map(textOf);
    if (source === undefined || flags === undefined) unreadable = true;
    else add(node.range[0], source, flags);
  };
  Deno.lint.runPlugin(
    {
      name: "patterns",
      rules: {
        find: {
          create: () => ({
            Literal(node) {
              if ("regex" in node && node.regex) {
                add(node.range[0], node.regex.pattern, node.regex.flags);
              }
            },
            NewExpression: addMade,
            CallExpression: addMade,
            ImportDeclaration(node) {
              const { value } = node.source;
              if (!value.startsWith(".")) return;
              imports.push(new URL(value, `file:///${file}`).pathname.slice(1));
            },
          }),
        },
      },
    },
    file,
    text,
  );
  if (unreadable) {
    throw new Error(`${file}: a regular expression that cannot be read from the file`);
  }
  return { found, imports };
}

function textOf(node: Deno.lint.Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral") return undefined;
  return node.quasis.map(({ cooked }) => cooked).join(interpolated);
}
