import type { SyntaxNode, Tree } from "@lezer/common";

const mostStages = 10;
const mostAggregates = 8;
const mostFields = 50;

const stageNames: Record<string, string> = {
  WhereStage: "where",
  HavingStage: "where",
  ExtractStage: "extract",
  SortStage: "sort",
  LimitStage: "limit",
  FieldsStage: "fields",
  Aggregate: "rows",
  Patterns: "patterns",
  MathStage: "math",
};

/** Whether the stages are in a valid order and name columns that exist. */
export function stagesAgree(tree: Tree, query: string): boolean {
  const textOf = (node: SyntaxNode) => query.slice(node.from, node.to);
  const seen: string[] = [];
  let columns = ["ts"];
  let numbers: string[] = [];
  for (let stage = tree.topNode.firstChild; stage; stage = stage.nextSibling) {
    const name = stageNames[stage.name];
    if (name === undefined) continue;
    if (!mayStand(name, seen) || seen.length >= mostStages) return false;
    const makesRows = seen.includes("rows") || seen.includes("patterns");
    seen.push(name);
    if (stage.name === "Patterns") {
      columns = ["count", "first", "last", "pattern"];
      numbers = ["count"];
    } else if (stage.name === "Aggregate") {
      const names = stage.getChildren("Call").map((call) => nameOf(call, textOf));
      const keys = stage.getChildren("Key").map(textOf);
      const widths = stage.getChildren("Width").length;
      if (widths > 1 || names.length > mostAggregates) return false;
      numbers = names;
      columns = [...names, ...(widths ? ["ts"] : []), ...keys];
      if (new Set(columns).size < columns.length) return false;
    } else if (name === "math") {
      const computed = stage.getChild("NewName");
      if (!computed || columns.includes(textOf(computed))) return false;
      if (resultsOf(stage).some((one) => !numbers.includes(textOf(one)))) return false;
      numbers = [...numbers, textOf(computed)];
      columns = [...columns, textOf(computed)];
    } else if (name === "sort") {
      const named = stage.getChildren("ColumnName").map(textOf);
      if (named.some((one) => !columns.includes(one))) return false;
      if (!makesRows && named.length > 1) return false;
    } else if (name === "fields") {
      if (stage.getChildren("AnyFieldName").length > mostFields) return false;
    } else if (stage.name === "HavingStage") {
      const tested = stage.getChildren("Test").map((test) => test.getChild("ColumnName"));
      if (tested.some((one) => !one || !numbers.includes(textOf(one)))) return false;
    }
  }
  return true;
}

/** The column of a call: the name after `as`, or the function's name. */
function nameOf(call: SyntaxNode, textOf: (node: SyntaxNode) => string): string {
  const named = call.getChild("NewName") ?? call.firstChild;
  return named ? textOf(named) : "";
}

/** The results that the formula of a stage names. */
function resultsOf(stage: SyntaxNode): SyntaxNode[] {
  const inner = [...stage.getChildren("Nested"), ...stage.getChildren("Negative")];
  return [...stage.getChildren("ResultName"), ...inner.flatMap(resultsOf)];
}

function mayStand(stage: string, seen: string[]): boolean {
  const has = (...names: string[]) => names.some((name) => seen.includes(name));
  const makesRows = has("rows", "patterns");
  if (stage === "where") return !has("limit", "fields") && (!has("sort") || makesRows);
  if (stage === "sort") return !has("sort", "limit");
  if (stage === "math") return has("rows") && !has("sort", "limit");
  if (stage === "limit") return !has("limit");
  if (stage === "fields") return !makesRows && !has("fields");
  return !makesRows && !has("sort", "limit", "fields");
}
