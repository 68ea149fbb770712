import { missingApiKey } from "../../contract/errors.ts";
import { isChecked, KEY_LENGTH, type KeyEnvironment } from "./api-key.ts";

const how = missingApiKey.advice;
const keysOfThisService = "The keys of this service begin with psk_test_ or psk_live_.";

const placeholder = "A placeholder was sent instead of an API key. Put the key there.";

/** Mistakes in sending a key, each with what to do. None repeats what was sent. */
const mistakes: readonly (readonly [RegExp, string])[] = [
  [/^$/, `No API key follows the word Bearer. ${how}`],
  [
    /^(?:null|undefined|none|nil|nan|true|false|\[object \w+\])$/i,
    "A program sent an empty value instead of an API key. Check where it reads the key.",
  ],
  [
    /^\S+,\s*\S/,
    "The request has more than one API key, or its header Authorization was sent twice. Send one key, once.",
  ],
  [/^bearer\b/i, "The word Bearer is sent twice. Send it once."],
  [
    /^<?(?:your|my|the)?[-_ ]?(?:api|secret|access|petstore)?[-_ ]?(?:key|token|secret)(?:[-_ ]?here)?>?$/i,
    placeholder,
  ],
  [/^[$%]|\{|^(?:psk_)?(?:(?:test|live)_)?(?:x+|\*+|\.{2,}|[^\x20-\x7e]+|0+)$|^psk_.*</i, placeholder],
  [/^["'`“‘]|["'`”’]$/, "The API key is in quotation marks. Send it without them."],
  [/^<|>$/, "The API key is in angle brackets. Send it without them."],
  [/\s/, "The API key contains white space. Send it as one word."],
  [/^https?:/i, "An address was sent instead of an API key. In a link to the console, the key follows #key=."],
  [/^\w*=/, "Something with = was sent instead of an API key. Send the value alone."],
  [/^key_/, `The id of a key was sent instead of the key, which is shown only when it is made. ${keysOfThisService}`],
  [/^acc_/, "The id of an account was sent instead of an API key. The command `keys create --account` makes one."],
  [/^wh(?:sec|sk|pk)_/, `A key for signatures of webhooks was sent instead of an API key. ${keysOfThisService}`],
  [/^(?!psk_)/i, `What was sent is no API key of this service. ${keysOfThisService}`],
];

/**
 * Why a text is not a key of this environment, as far as the text alone shows: whether such a key exists plays no part.
 */
export function keyMistake(text: string, { isProduction, cell }: KeyEnvironment): string {
  const known = mistakes.find(([pattern]) => pattern.test(text))?.[1];
  if (known !== undefined) return known;
  if (!isProduction && /^psk_live_/i.test(text))
    return "The API key is live, but only production has live keys. Send a test key of this service (psk_test_).";
  if (text.length !== KEY_LENGTH)
    return `The API key has ${text.length} characters instead of ${KEY_LENGTH}: a part is missing, or something follows it.`;
  if (!isChecked(text)) return "The API key is mistyped: its last six characters do not fit the others. Copy it again.";
  return `The API key is of another cell than this one, ${cell}: it belongs to another service.`;
}
