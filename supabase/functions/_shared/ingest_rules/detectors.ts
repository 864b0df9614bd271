/** Reports where something begins and ends, from left to right. */
export type Found = (from: number, to: number) => void;

export interface Detector {
  /**
   * Every text with a match matches this, and most others do not. It begins with rare letters, which are found fast, and
   * JSON escapes none of what it matches.
   */
  readonly trigger: RegExp;
  /** Finds all matches in a time that grows with the length of the text only. */
  readonly find: (text: string, found: Found) => void;
  /** Whether the text of a number may match. */
  readonly readsNumbers?: true;
  /** Whether a name before the text tells what it is: it then finds in `name: text`. */
  readonly readsNames?: true;
}

/** The names that detectors read. */
export const readNames = /secret|authorization|bearer/i;

/** The detectors by name, in the order in which they replace: the most specific first. */
export const detectors: readonly (readonly [string, Detector])[] = [
  ["logloom_key", { trigger: /ll[tpc]?_/, find: matching(/ll[tpc]?_[0-9A-Za-z]{36}/g) }],
  ["supabase_key", {
    trigger: /sbp?_/,
    find: matching(/sb_(?:secret|publishable)_[\w-]{8,}|sbp_(?:\w{1,8}_)?[0-9a-f]{40}/g),
  }],
  ["supabase_key", {
    trigger: /yJ/,
    find: (text, found) =>
      findJwts(text, (from, to) => {
        if (isOfSupabase(text.slice(from, to))) found(from, to);
      }),
  }],
  ["aws_key", {
    trigger: /A3T|A[A-Z]{2}A|[Ss][Ee][Cc][Rr]/,
    find: matching(
      /(?:A3T[0-9A-Z]|AKIA|ASIA|AROA|AIDA|AGPA|AIPA|ANPA|ANVA|ABIA|ACCA)[0-9A-Z]{16}|(?<=secret_?(?:access_?)?key[\\"']{0,8}\s{0,3}(?::|=>?)\s{0,3}[\\"']{0,8})[0-9A-Za-z+/]{40}/gi,
      // Only the names of secret keys have any letter case.
      (key) => key.length === 40 || key === key.toUpperCase(),
    ),
    readsNames: true,
  }],
  ["jwt", { trigger: /yJ/, find: findJwts }],
  ["bearer", {
    trigger: /[Bb]earer|BEARER/,
    find: matching(
      /(?:[Bb]earer|BEARER)(?:[\s:=+"']|%20|%3A){1,8}[\w.~+/=%-]{8,}/g,
      (match, text, at) =>
        isToken(match.replace(/^.{6}(?:[\s:=+"']|%20|%3A){1,8}/, "")) ||
        /authorization\W{0,16}$/i.test(text.slice(Math.max(0, at - 30), at)),
    ),
    readsNames: true,
  }],
  ["email", { trigger: /[@%]/, find: findEmails }],
  ["iban", { trigger: /[A-Za-z]{2}\d\d/, find: findIbans }],
  ["card", { trigger: /\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d/, find: findCards, readsNumbers: true }],
  ["phone", {
    trigger: /[+%]/,
    find: matching(
      /(?:\+|%2B)[1-9](?:[ ().\/-]{0,2}\d){6,14}/gi,
      // 12:00:00 +1030 2026 is a time, 1.0.0+20261128 a version.
      (match, text, at) => {
        const before = text.slice(Math.max(0, at - 24), at);
        const isOffset = /^(?:\+|%2B)1[0-4](?:00|30|45) (?:19|20)\d\d(?!\d)/i.test(match);
        return !(isOffset && /\d:\d\d(?:[.,]\d+)? ?$/.test(before)) &&
          !/\d\.\d[\w.-]*$/.test(before);
      },
    ),
  }],
  ["ipv6", { trigger: /:[\dA-Fa-f]{0,4}:/, find: findIpv6 }],
  ["ipv4", {
    trigger: /\d\.\d/,
    find: matching(
      /(?<!\d|\d\.)(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d|\.\d)/g,
      (_, text, at) => !version.test(text.slice(Math.max(0, at - 20), at)),
    ),
  }],
];

/** What stands before a version: Chrome/120.0.0.0, v1.2.3.4, version 1.2.3.4. */
const version =
  /(?:Chrom\w*|Edg\w*|OPR|Safari|Electron|Vivaldi|YaBrowser)\/$|(?:^|[^a-z])(?:v(?:er)?\.?|version[ .:=]{0,2})$/i;

/** A detector by an expression whose repeats are bounded or always match. */
function matching(
  expression: RegExp,
  accepts: (match: string, text: string, at: number) => boolean = () => true,
): Detector["find"] {
  return (text, found) => {
    expression.lastIndex = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      const [matched] = match;
      if (accepts(matched, text, match.index)) found(match.index, match.index + matched.length);
    }
  };
}

/** Whether this may be a secret, and is not a word: "bearer authentication". */
function isToken(text: string): boolean {
  return text.length >= 20 || /\d|[a-z][A-Z]/.test(text);
}

/** Whole runs are read, because `eyJ` may stand many times in one. */
const tokenRun = /[\w.-]{16,}/g;

function findJwts(text: string, found: Found): void {
  tokenRun.lastIndex = 0;
  for (let run = tokenRun.exec(text); run !== null; run = tokenRun.exec(text)) {
    const [token] = run;
    for (let at = token.indexOf("eyJ"); at !== -1;) {
      const dot = token.indexOf(".", at);
      if (dot === -1) break;
      const [whole] = /^[\w-]{8,}(?:\.[\w-]{5,}(?:\.[\w-]*){0,3})/.exec(token.slice(at)) ?? [""];
      if (whole !== "") found(run.index + at, run.index + at + whole.length);
      at = token.indexOf("eyJ", Math.max(dot, at + whole.length));
    }
  }
}

/** Whether a JWT is an old key of a Supabase project. */
function isOfSupabase(jwt: string): boolean {
  try {
    const payload = jwt.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return atob(payload).includes('"iss":"supabase"');
  } catch {
    return false;
  }
}

const domain =
  /(?:[\p{L}\p{N}\p{M}-]{1,63}\.){1,20}(?:xn--[a-z\d-]{2,59}|\p{L}[\p{L}\p{M}]{1,62})/uy;
/** Not all that may stand before an @, as in user=a@example.com. */
const local = /[\p{L}\p{N}\p{M}._+'-]/u;
const maxLocal = 64;

function findEmails(text: string, found: Found): void {
  let done = 0;
  for (const { index: at, 0: sign } of text.matchAll(/@|%40/g)) {
    if (at < done) continue;
    let from = at;
    while (from > done && at - from < maxLocal && local.test(text[from - 1])) from--;
    while (text[from] === "'") from++;
    domain.lastIndex = at + sign.length;
    if (from === at || !domain.test(text)) continue;
    found(from, done = domain.lastIndex);
  }
}

/** The lengths of IBANs by country. */
const ibanLengths = new Map(
  Array.from(
    ("AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24" +
      "FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32" +
      "LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24" +
      "RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30")
      .matchAll(/([A-Z]{2})(\d\d)/g),
    ([, country, length]): [string, number] => [country, Number(length)],
  ),
);

const ibanStart = /[A-Za-z]{2}\d\d/g;

function findIbans(text: string, found: Found): void {
  ibanStart.lastIndex = 0;
  for (let start = ibanStart.exec(text); start !== null; start = ibanStart.exec(text)) {
    const { index } = start;
    const length = ibanLengths.get(start[0].slice(0, 2).toUpperCase());
    ibanStart.lastIndex = index + 1;
    if (length === undefined) continue;
    let iban = "";
    let at = index;
    for (; iban.length < length && /[0-9A-Za-z]/.test(text[at] ?? ""); at++) {
      iban += text[at];
      if (/[ -]/.test(text[at + 1] ?? "") && iban.length < length) at++;
    }
    if (iban.length < length || !isIban(iban) || isInDigest(text, index, at)) continue;
    found(index, at);
    ibanStart.lastIndex = at;
  }
}

function isIban(text: string): boolean {
  let rest = 0;
  for (const letter of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(letter, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** Whether a place belongs to 32 or more hexadecimal digits: a digest, or a UUID without its hyphens. */
function isInDigest(text: string, from: number, to: number): boolean {
  if (!/^[\da-f]*$/i.test(text.slice(from, to))) return false;
  const before = /[\da-f]{0,64}$/i.exec(text.slice(Math.max(0, from - 64), from))![0];
  const after = /^[\da-f]{0,64}/i.exec(text.slice(to, to + 64))![0];
  return before.length + after.length > 0 && before.length + after.length + to - from >= 32;
}

const digitRun = /\d(?:[ -]?\d){12,}/g;
/** The first digits and lengths of cards, without Visa's rare 19 digits, which many ids have. */
const issued =
  /^(?:4\d{12}|(?:4\d|5[1-5]|2[2-7]|35)\d{14}|3[47]\d{13}|3[0689]\d{12}|(?:6011|62\d\d|64[4-9]\d|65\d\d)\d{12,15}|(?:50[123]\d|5893|6304|676\d|6759)\d{9,15})$/;

/** Finds 13 to 19 digits with Luhn's check digit, in one group or in groups as they are printed. */
function findCards(text: string, found: Found): void {
  digitRun.lastIndex = 0;
  for (let run = digitRun.exec(text); run !== null; run = digitRun.exec(text)) {
    const groups = [...run[0].matchAll(/\d+/g)];
    for (let first = 0; first < groups.length; first++) {
      const start = run.index + groups[first].index;
      // The digits of a fraction.
      if (/\d\.$/.test(text.slice(Math.max(0, start - 2), start))) continue;
      let digits = "";
      let lengths = "";
      for (let last = first; last < groups.length && digits.length < 19; last++) {
        digits += groups[last][0];
        lengths += ` ${groups[last][0].length}`;
        const end = run.index + groups[last].index + groups[last][0].length;
        if (digits.length < 13 || !isCard(digits, lengths) || isInDigest(text, start, end)) {
          continue;
        }
        found(start, end);
        first = last;
        break;
      }
    }
  }
}

function isCard(digits: string, lengths: string): boolean {
  if (!issued.test(digits)) return false;
  if (!/^ \d+$|^(?: 4){3}(?: [1-4]){1,2}$|^ 4 6 [45]$/.test(lengths)) return false;
  let sum = 0;
  for (let n = 0; n < digits.length; n++) {
    const digit = Number(digits[digits.length - 1 - n]) * (1 + n % 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

const hexRun = /[\da-f:]{2,}(?:(?<=:\d{1,3})(?:\.\d{1,3}){3})?/gi;

function findIpv6(text: string, found: Found): void {
  hexRun.lastIndex = 0;
  for (let run = hexRun.exec(text); run !== null; run = hexRun.exec(text)) {
    // A single colon at an end is punctuation.
    const from = run.index + (/^:(?!:)/.test(run[0]) ? 1 : 0);
    const address = run[0].slice(from - run.index).replace(/(?<!:):$/, "");
    const to = from + address.length;
    const isInWord = /[a-z_]/i.test(
      text.slice(Math.max(0, from - 1), from) + text.slice(to, to + 1),
    );
    const skipped = lettersBefore(address, isInWord);
    if (skipped !== undefined) found(from + skipped, to);
  }
}

/**
 * How many characters before the address belong to another word; undefined if this is no address. In a word it needs
 * three groups, because std::f64 has two.
 */
function lettersBefore(text: string, isInWord: boolean): number | undefined {
  if (text.length > 200 || !/:.*:/.test(text)) return undefined;
  // The last group of an IPv4 address counts as two.
  const groups = text.replace(/(?:\d+\.){3}\d+$/, "0:0").split(":");
  const isShort = text.includes("::");
  if (!isShort && groups.length < 8) return undefined;
  if (isShort && (!/\d/.test(text) || text.split("::").length > 2)) return undefined;
  if (isInWord && groups.filter((group) => group !== "").length < 3) return undefined;
  // Bytes in pairs are a fingerprint or a MAC address.
  if (groups.every(({ length }) => length === 2)) return undefined;
  const most = groups.slice(isShort ? -9 : -8);
  if (most.slice(1, -1).some(({ length }) => length > 4)) return undefined;
  const length = most.join(":").length;
  return groups.join(":").length - length + Math.max(0, most[0].length - 4);
}
