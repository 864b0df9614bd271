import { Fragment, type ReactNode } from "react";
import { ansiSpans } from "./safe-text.ts";

const address = /https?:\/\/[^\s"'<>`{}|\\^\u2400-\u2426]+/g;

function linked(text: string, key: number): ReactNode {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(address)) {
    const url = match[0].replace(/[),.;:!?\]]+$/, "");
    parts.push(text.slice(from, match.index));
    parts.push(
      <a key={match.index} href={url} target="_blank" rel="noreferrer noopener">
        {url}
      </a>,
    );
    from = match.index + url.length;
  }
  parts.push(text.slice(from));
  return <Fragment key={key}>{parts}</Fragment>;
}

/** A text from a log: never HTML, with its own text direction, ANSI colours and, if wanted, links. */
export function LogText(
  { text, links = false }: { text: string; links?: boolean },
) {
  return (
    <bdi className="log-text">
      {ansiSpans(text).map((span, i) => {
        const inner = links ? linked(span.text, i) : span.text;
        return span.className
          ? <span key={i} className={span.className}>{inner}</span>
          : <Fragment key={i}>{inner}</Fragment>;
      })}
    </bdi>
  );
}
