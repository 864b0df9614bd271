import { checkout, functionNames } from "../../local/stack.ts";

/** A regular expression in a file. */
export interface Pattern {
  /** File and line. */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Replaces a value that is inserted into a pattern at run time. */
const interpolated = "interpolated";

/** Finds every regular expression of the edge functions and of the files that they import. */
export async function functionPatterns(): Promise<Pattern[]> {
  const patterns: Pattern[] = [];
  const files = new Set(functionNames.map((name) => `supabase/functions/${name}/index.ts`));
  // Iterating a Set includes items added meanwhile.
  for (const file of files) {
    const text = await Deno.readTextFile(`${checkout}/${file}`);
    const { found, imports, hasMade } = patternsIn(file, text);
    patterns.push(...found, ...hasMade ? await madePatterns(file) : []);
    for (const path of imports) files.add(path);
  }
  return patterns;
}

/** Returns the patterns that a file builds from parts and exports as `patterns`. */
async function madePatterns(file: string): Promise<Pattern[]> {
  const { patterns } = await import(`file://${checkout}/${file}`) as { patterns?: RegExp[] };
  if (!patterns) {
    throw new Error(`${file}: a regular expression made of parts, and no exported patterns`);
  }
  return patterns.map(({ source, flags }, n) => ({
    place: `${file} patterns[${n}]`,
    source,
    flags,
  }));
}

/** Finds the regular expressions in a text, and our files that it imports. */
export function patternsIn(
  file: string,
  text: string,
): { readonly found: Pattern[]; readonly imports: string[]; readonly hasMade: boolean } {
  const found: Pattern[] = [];
  const imports: string[] = [];
  const add = (start: number, source: string, flags: string) => {
    const line = text.slice(0, start).split("\n").length;
    found.push({ place: `${file}:${line}`, source, flags });
  };
  let hasMade = false;
  const addMade = (node: Deno.lint.NewExpression | Deno.lint.CallExpression) => {
    const { callee, arguments: made } = node;
    if (callee.type !== "Identifier" || callee.name !== "RegExp") return;
    const [source, flags = ""] = made.map(textOf);
    if (source === undefined || flags === undefined) hasMade = true;
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
  return { found, imports, hasMade };
}

function textOf(node: Deno.lint.Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral") return undefined;
  return node.quasis.map(({ cooked }) => cooked).join(interpolated);
}
