import { say } from "../shared/words.ts";
import { useState } from "react";
import { bytes } from "../shared/numbers.ts";
import { LogText } from "../shared/text.tsx";

/** The part of a message that is shown at once; the rest on request. */
const firstPart = 4000;

export function LongText(
  { text, className }: { text: string; className: string },
) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > firstPart;
  return (
    <div className={className}>
      <pre tabIndex={0}>
        <LogText text={isLong && !isWhole ? `${text.slice(0, firstPart)}…` : text} links />
      </pre>
      {isLong && (
        <button
          type="button"
          className="button small quiet"
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole
            ? say("Show less")
            : say("Show all ({size})", { size: bytes(new Blob([text]).size) })}
        </button>
      )}
    </div>
  );
}
