import { setting } from "../../settings/setting.ts";

export const keySettings = {
  PETSTORE_CELL: setting<string>({
    meaning: "The cell (docs/scale.md): new API keys name it, and keys of another cell are refused.",
    fallback: "00",
    expects: "two letters or digits",
    parse: (text) => (/^[0-9A-Za-z]{2}$/.test(text) ? text : undefined),
  }),
};
