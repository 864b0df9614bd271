import { endOfString } from "../_shared/numbers.ts";

/**
 * A number that a double may write otherwise: of sixteen signs, with an exponent, below a millionth, or with a 0 at its
 * end. Or what looks like one within a text: a pattern that reads texts, too, fails at long ones.
 */
const unlikeDouble =
  /[:,[]\s*(-?(?:[\d.]{16,}(?:[eE][+-]?\d+)?|\d[\d.]*[eE][+-]?\d+|0\.0{6}\d+|\d+\.\d*0))(?=\s*[,\]}])/g;

/** JSON in which numbers are texts where `isText` says so. */
export function exact(text: string, isText: (number: string) => boolean): unknown {
  let quote = text.indexOf('"');
  let outside = 0;
  // Not by a function that JSON.parse calls, which takes seconds where there are millions of numbers.
  return JSON.parse(text.replace(unlikeDouble, (found: string, number: string, at: number) => {
    while (quote !== -1 && quote < at) {
      outside = endOfString(text, quote);
      quote = text.indexOf('"', outside);
    }
    return outside > at || !isText(number) ? found : `${found.slice(0, -number.length)}"${number}"`;
  }));
}

/** Whether a double has other digits than a number. */
export function changes(number: string): boolean {
  return digits(number) !== digits(`${Number(number)}`);
}

/** Whether a double is written otherwise than a number. */
export function rewrites(number: string): boolean {
  return `${Number(number)}` !== number;
}

function digits(number: string): string {
  const [mantissa] = number.split(/e/i);
  return mantissa.replace(/[-.]/g, "").replace(/^0+/, "").replace(/0+$/, "");
}
