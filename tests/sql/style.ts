/** A line of SQL that breaks the style rules. */
export interface StyleFault {
  line: number;
  message: string;
}

const widest = 100;

/** Checks our style, which no formatter for this dialect produces: lower case, two spaces, 100 columns. */
export function sqlStyleFaults(text: string): StyleFault[] {
  const faults: StyleFault[] = [];
  const lines = text.split("\n");
  const code = codeOnly(text).split("\n");
  lines.forEach((content, index) => {
    const fault = (message: string) => faults.push({ line: index + 1, message });
    if (content.includes("\t")) fault("a tab; indent with two spaces");
    if (/[ \t\r]$/.test(content)) fault("blanks at the end of the line");
    if ([...content].length > widest) fault(`longer than ${widest} columns`);
    if (content === "" && lines[index - 1] === "") fault("a second empty line");
    const indent = /^ */.exec(code[index])?.[0].length ?? 0;
    if (code[index].trim() !== "" && indent % 2 === 1) fault("indented by an odd number of spaces");
    // psql's variables have such names.
    const upper = /^\\set /.test(content) ? null : /(?<![\w"])[A-Z]\w*/.exec(code[index])?.[0];
    if (upper) fault(`upper case: ${upper}`);
  });
  if (text !== "" && !text.endsWith("\n")) {
    faults.push({ line: lines.length, message: "no newline at the end of the file" });
  }
  return faults;
}

/**
 * The text with comments, strings and quoted names made unreadable, so that places stay.
 * A body between $$ and $$ is code; between tags with a name it is a string.
 */
function codeOnly(text: string): string {
  const quoted =
    /--[^\n]*|\/\*[\s\S]*?\*\/|[eE]'(?:[^'\\]|''|\\[\s\S])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w+)\$[\s\S]*?\$\1\$/g;
  return text.replace(quoted, (found) => found.replace(/[^\n]/g, "~"));
}
