// npm run -s console:texts > labels.json
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { npmCi } from "../local/npm.mjs";

const folder = dirname(fileURLToPath(import.meta.url));

if (process.argv.length > 2) {
  console.log(`Prints every text of the console and the portal, as labels to translate:
npm run -s console:texts > labels.json`);
  process.exit(process.argv[2] === "--help" ? 0 : 1);
}
if (!existsSync(resolve(folder, "node_modules/typescript"))) {
  const { status, output } = await npmCi(folder, ["--loglevel=error"]);
  if (status !== 0) fail(`npm ci failed:\n${output}`);
}
const { API } = await import("typescript/unstable/sync");
const is = await import("typescript/unstable/ast/is");

const api = new API({ cwd: folder });
const config = resolve(folder, "tsconfig.json");
const { program, checker } = api.updateSnapshot({ openProject: config }).getProject(config);
const texts = new Set();
const singular = new Map();
const wrong = [];
for (const path of program.getSourceFileNames()) {
  if (path.startsWith(resolve(folder, "src"))) read(program.getSourceFile(path), path);
}
api.close();
for (const sentence of singular.keys()) {
  if (!texts.has(sentence)) wrong.push(`no code uses "${sentence}", which has a singular`);
}
if (wrong.length > 0) fail(wrong.join("\n"));
const labels = [...texts].sort().map((text) => {
  const one = singular.get(text);
  return [text, one === undefined ? text : { one, other: text }];
});
console.log(JSON.stringify(Object.fromEntries(labels), null, 2));

function fail(sentence) {
  console.error(`logloom: ${sentence}`);
  process.exit(1);
}

function read(file, path) {
  const tell = (node, what) => {
    const line = file.text.slice(0, node.end).split("\n").length;
    wrong.push(`${path.slice(folder.length + 1)}:${line} ${what}`);
  };
  const add = (node, text) => {
    if (text === undefined) tell(node, "shows a text that its type does not name");
    else texts.add(text);
  };
  const visit = (node) => {
    const said = saidBy(node);
    if (said !== undefined) {
      for (const text of textsOf(said)) add(said, text);
    } else if (is.isVariableDeclaration(node) && node.name.text === "singular") {
      readSingular(node);
    } else if (is.isStringLiteral(node) && isWords(checker.getContextualType(node))) {
      if (node.text.includes("{")) tell(node, "has {values} but is not passed to say");
      else texts.add(node.text);
    }
    if (isShown(node) && isWords(checker.getTypeAtLocation(node.expression))) {
      tell(node, "shows a text without say");
    }
    node.forEachChild((child) => {
      const isDone = child === said && is.isStringLiteral(said);
      if (!isDone && !is.isImportDeclaration(child)) visit(child);
    });
  };
  visit(file);
}

/** The text argument of `say(…)` or `<Sentence text=…>`. */
function saidBy(node) {
  if (is.isCallExpression(node) && node.expression.text === "say") return node.arguments[0];
  const isSentence = is.isJsxAttribute(node) && node.name.text === "text" &&
    node.parent.parent.tagName.text === "Sentence";
  return isSentence ? node.initializer.expression ?? node.initializer : undefined;
}

/** Whether an element shows a variable, as in `<b>{label}</b>`. */
function isShown(node) {
  return is.isJsxExpression(node) && !is.isJsxAttribute(node.parent) && node.expression &&
    (is.isIdentifier(node.expression) || is.isPropertyAccessExpression(node.expression));
}

/** The texts that an expression may be. */
function textsOf(expression) {
  return is.isStringLiteral(expression)
    ? [expression.text]
    : namedBy(checker.getTypeAtLocation(expression));
}

/** The texts of a literal type. `Words` are collected where they are written. */
function namedBy(type) {
  if (type.isUnionType()) return type.getTypes().flatMap(namedBy);
  if (isWords(type)) return [];
  return [type.isStringLiteralType() ? type.value : undefined];
}

function isWords(type) {
  if (type?.isUnionType()) return type.getTypes().some(isWords);
  return type?.getAliasSymbol()?.name === "Words";
}

function readSingular({ initializer }) {
  for (const { name, initializer: one } of initializer.properties) {
    singular.set(name.text, one.text);
  }
}
