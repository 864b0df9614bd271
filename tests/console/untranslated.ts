/** A text that people may read and that does not go through `say`. */
export interface Untranslated {
  line: number;
  text: string;
}

/** Attributes whose text is shown or read aloud. */
const spoken = /^(title|label|aria-label|aria-description|alt|about|what)$/;
const silent = /^(className|look|style|d|viewBox|href|rel|autoComplete)$/;
/** Elements whose text is not translated. */
const codeElement = /^(code|kbd)$/;
const twoWords = /[A-Za-z]{2,}[,.:;]? [A-Za-z]/;
/** A single capitalised word is a label. */
const label = /^[A-Z][a-z]+$/;
const isCompared = /^(BinaryExpression|SwitchCase)$/;
const word = /(^|[ ("])[A-Za-z]{2,}([ .,:;?!)"]|$)/;
/** Queries, styles, selectors, commands. */
const code = /^["']|[|*=<>[\]\\]|\w:\S|[\w-]\(|\/\w|\d(px|ch)/;
const names =
  /^(px|UTC|Bearer|Authorization|On|Off|Backspace|Enter|Escape|Tab|Call|Ctrl K|Fluent Bit|Supabase log drain|ingest read|sort by)$/;

const isSpoken = (text: string, pattern: RegExp) => {
  const words = text.replace(/logloom/gi, "").trim();
  return pattern.test(words) && !code.test(words) && !names.test(words);
};

/** Texts in elements, attributes, literals and templates that are not in `known`. */
export function untranslatedIn(
  path: string,
  source: string,
  known: ReadonlySet<string>,
): Untranslated[] {
  const found = Deno.lint.runPlugin(pluginFor(known), path, source);
  return found.map(({ range, message }) => ({
    line: source.slice(0, range[0]).split("\n").length,
    text: message,
  }));
}

function pluginFor(known: ReadonlySet<string>): Deno.lint.Plugin {
  return {
    name: "words",
    rules: {
      untranslated: {
        create(context) {
          const tell = (node: Deno.lint.Node, text: string) => {
            if (!isSilent(node)) context.report({ node, message: text.trim() });
          };
          return {
            JSXText(node) {
              if (isSpoken(node.value, /[A-Za-z]{2,}/)) tell(node, node.value);
            },
            Literal(node) {
              if (typeof node.value !== "string") return;
              const { value, parent } = node;
              const isRead = isShown(node) && !names.test(value) ||
                parent.type === "JSXAttribute" && spoken.test(nameOf(parent));
              const isLabel = isSpoken(value, label) && !isCompared.test(parent.type);
              if (isRead ? /[A-Za-z]{2,}/.test(value) : isLabel || isSpoken(value, twoWords)) {
                if (isRead || !known.has(value)) tell(node, value);
              }
            },
            TemplateLiteral(node) {
              const texts = node.quasis.map(({ raw }) => raw);
              const isGlued = node.expressions.some(isSay) && texts.slice(1, -1).includes(" ");
              if (
                texts.some((text) => isSpoken(text, word)) && !code.test(texts.join("")) || isGlued
              ) {
                tell(node, texts.join("${}"));
              }
            },
          };
        },
      },
    },
  };
}

const nameOf = ({ name }: Deno.lint.JSXAttribute) => name.type === "JSXIdentifier" ? name.name : "";

const isSay = (node: Deno.lint.Expression) =>
  node.type === "CallExpression" && node.callee.type === "Identifier" && node.callee.name === "say";

/** Whether an element shows the literal directly: `{isMine ? "mine" : "theirs"}`. */
function isShown({ parent }: Deno.lint.StringLiteral): boolean {
  let at: Deno.lint.Node = parent;
  while (at.type === "ConditionalExpression" || at.type === "LogicalExpression") at = at.parent;
  return at.type === "JSXExpressionContainer" && at.parent.type !== "JSXAttribute";
}

/** Whether nobody reads the text: it is in a technical attribute, a code element or an Error. */
function isSilent(node: Deno.lint.Node): boolean {
  for (
    let at = node;
    at.type !== "Program";
    at = (at as { parent: Deno.lint.Node } & object).parent
  ) {
    if (at.type === "JSXAttribute") return silent.test(nameOf(at));
    if (at.type === "JSXElement") {
      const { name } = at.openingElement;
      return name.type === "JSXIdentifier" && codeElement.test(name.name);
    }
    if (at.type === "NewExpression" && at.callee.type === "Identifier") {
      return at.callee.name === "Error";
    }
  }
  return false;
}
