import { setting } from "../../settings/setting.ts";

export const keySettings = {
  PETSTORE_CELL: setting<string>({
    meaning:
      "The cell that the service is: new API keys name it, and keys of another cell are refused. Only for a service " +
      "that is one of several, with shops spread over them.",
    fallback: "00",
    expects: "two letters or digits",
    parse: (text) => (/^[0-9A-Za-z]{2}$/.test(text) ? text : undefined),
  }),
};
